package document

// Members that Grove keeps in users' documents beside their fields. The page
// docs/members.md says the same of each; a test compares the two.
const (
	Marks    = "_ops"
	Mark     = "_op"
	Deletion = "_deletion"
	Moving   = "_moving"
	Moved    = "_moved"
	Counted  = "_counted"
	Links    = "_links"
)

// A Member is one that Grove adds to documents: who writes it, who reads it,
// and when it goes.
type Member struct{ Name, Holds, Written, Read, Removed string }

// Members returns all that Grove adds to documents: those of tenantitem.Meta and
// of children's and buckets' bases, which the entity's struct has, and those
// above, which it has not.
func Members() []Member {
	return []Member{
		{"tenantId", "whose document it is", "every write", "every read", "never"},
		{"entityType", "what document it is", "every write", "every read", "never"},
		{"deletedAt", "when it was deleted", "deletes with SoftDelete, with children, or where the feed has to see them", "every read, which hides the document", "a restore; the document's end"},
		{"ttl", "how long it lives, in seconds", "deletes of trees and deletes that keep the document; an entity's TTL", "the service; deletes and Resume, by whose -1 a delete is under way", "a restore puts back what was there"},
		{"parentId", "the parent of a child", "creates and moves of children", "deletes of parents, queries of children", "with the rule Orphan it is emptied"},
		{"parentEntityType", "the parent's entity type", "whole writes of children", "queries of applications", "never"},
		{"seq", "the place of a bucket among its parent's", "appends to buckets", "appends, lists", "with the bucket"},
		{"taken", "how many entries a bucket has had", "appends to buckets", "appends", "with the bucket"},
		{"live", "how many entries a bucket has", "appends, deletes of entries", "counts", "with the bucket"},
		{"entries", "the entries of a bucket", "appends, edits, deletes of entries", "reads of entries", "with the bucket"},
		{Marks, "marks of the last writes, by writer, at most 96", "creates, replacements, upserts, mutations", "the verb that wrote it, when its answer was lost", "each write drops what is no longer needed"},
		{Mark, "the mark of the last patch", "patches", "the verb that wrote it, when its answer was lost", "the next replacement"},
		{Deletion, "the journal of a delete: its phase, its run, what it replaced, until when it can be undone", "deletes and restores of trees and of soft-deleted documents", "deletes, restores, Resume", "the end of a delete or a restore; the id of the last run stays"},
		{Moving, "the parent that a child comes from while it moves", "moves of children that Restrict keeps, that have such children, or whose parents can be restored", "deletes of either parent, Resume, Sweep", "the end of the move"},
		{Moved, "references that a document had until lately", "writes that change what a count or a list is made of", "the keeper of copies", "the keeper, once the former targets were counted again"},
		{Counted, "references that Grove knows of", "the keeper, and writes of documents that are counted", "the keeper, to notice what was moved around Grove", "never"},
		{Links, "links that the other side does not know yet", "writes of the following side of a link", "the keeper of copies", "the keeper, once both sides name each other"},
	}
}
