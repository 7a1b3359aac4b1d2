// Package parented is about documents that belong to another document: the
// comments of a note, the replies to a comment.
//
// One question decides whether a thing is a child: if the parent is deleted,
// should this disappear too? If it should, and it is edited, queried or grows
// on its own, it embeds [ParentedItem] instead of standing in its parent's
// document:
//
//	type Comment struct {
//		parented.ParentedItem[Comment, Note]
//		Body string `json:"body"`
//	}
//
// A [Forest] knows which entity types belong to which, and under which [Rule]; every
// delete through a repository of the forest applies the rules. Children are
// written and read through their parent:
//
//	forest := parented.NewForest(parented.ForestConfig{})
//	comments, err := parented.New[Comment](forest, notes, container, parented.Config{Rule: parented.Cascade})
//	err = comments.Under(note).Create(ctx, &Comment{Body: "first"})
//	for c, err := range comments.Under(note).Query(ctx, repository.All()) { ... }
//
// # The types, in the order of need
//
//   - [ParentedItem], the base of a child, and [Rule], what becomes of it when
//     its parent is deleted.
//   - [Repository], of one child entity type, which registry makes, or [New]
//     with a [Config]; [Scope], the children of one parent.
//   - [DanglingError], a child without its parent; [ChildrenError], a delete
//     that Restrict forbids; [PlanChangedError], a delete that would take more
//     than its plan showed.
//   - [Part] and [With], for [Load], which reads a parent with its children.
//   - [Buckets], for children that are small and very many, with a
//     [BucketConfig]: [Entries] are those of one parent, an [Entry] is one, a
//     [Bucket] is the document that holds them.
//   - [Forest], who belongs to whom, with a [ForestConfig] and a [Policy] for
//     each entity type; [Resumed], [Swept] and [SweepOptions] are of its
//     upkeep.
//   - [Child], the constraint of generic code over children.
//   - [RepositoryOf], [ScopeOf], [PartOf] and [ParentedItemOf], of which Repository,
//     Scope, Part and ParentedItem are names, and whose methods theirs are: the same over
//     pointers, which Go compiles once for all entities.
//
// # Parents of one id
//
// A parent is its whole key. Where that has levels that tenant and id don't tell,
// /tenantId,/city, its children need fields of the same names and types, and store
// them: the city of a review says which shop 1 it belongs to. Under fills them;
// UnderID and Move take the further values of the parent's key behind its id. New
// refuses children that lack them, unless [Config.UniqueParentIDs] says that ids
// are enough.
//
// # Deletes that span partitions
//
// Under the default key a parent and its children lie in different logical
// partitions, and no transaction spans them. A delete is therefore a sequence
// of steps, each of which may be the last one before the process dies:
//
//  1. The document is hidden: it disappears from reads at once and takes no
//     new children. That write begins the journal; from here on the delete can
//     be finished by any process.
//  2. Where something below may forbid it, the documents on the way there are
//     hidden too, and the decision is written. A refusal rolls the delete back:
//     none of them stays hidden.
//  3. From the top down, every document that may have children of its own is
//     hidden; from the bottom up, all of them are removed. What another delete
//     or restore has begun below is finished first, on its own terms.
//  4. The document itself is removed.
//
// A second Delete of the same document, and [Forest.Resume] for all of them,
// take up where a dead process stopped. Several processes may work on one
// delete; an id that is used again meanwhile is left alone.
//
// Each delete is a run with an id of its own, which stands in every document
// that it hides. Restore, Purge and a refusal find by it what belongs together,
// so a branch that was deleted before its tree stays deleted; times are stored
// for people and for expiry only. What was brought back keeps the id as that of a run rolled back.
// A process that is late with a step of a run that others have finished and
// rolled back is refused: by the etag of what it read before, and by that id in what
// it reads since. A child that came so late that no other process saw it is
// brought back by the late process itself; where that dies first, by
// [Forest.Sweep].
//
// A document that is deleted softly goes the same way, only that it and what is
// below it stay for a while, hidden. Restore and Purge write their own phase
// before anything else, and are taken up in the same manner. A tree is restored
// whole or not at all: a Restore that died should be resumed within an hour.
//
// # Children and a delete at the same time
//
// A write of a child and its Move look at the parent before and again after. A
// child that arrived too late for the delete's last look is therefore seen by
// its own writer, which removes it, or moves it back, and reports
// repository.ErrDanglingRef; where a batch wrote more than that, it is
// repository.ErrAmbiguous too. A child that the delete has taken already was
// created before it. A child that was there and is replaced or overwritten
// meanwhile goes with the delete. Both come back with its restore. Under
// [Restrict], what an Upsert wrote over something when the delete had ended is
// hidden with the parent, if that can be restored, and the Upsert is
// repository.ErrAmbiguous and repository.ErrDanglingRef. A Restore looks at the parent once the child has the phase of the
// restore, and before it is shown: where the parent is gone, the child stays
// deleted. A child that Restrict keeps, or that can be restored with its
// parent, names the former parent while it moves: a delete of either parent
// finds it and ends the move, and so does [Forest.Resume] where the mover died.
// Two things can still leave a child behind: a process that dies between the
// create of a child and the second look in the instant in which another one
// deletes the parent, and, under session consistency, two processes that for
// some milliseconds both read what the other has already changed.
// [Forest.Sweep] finds such children and applies their rule. A delete and a
// restore see what the last run of the same document wrote, wherever that ran,
// since the document keeps its session tokens; an Upsert of a document that was
// restored drops them.
//
// # The files
//
//   - item.go, rule.go, repository.go, scope.go, forest.go: the API, and who belongs to whom.
//   - children.go: the children of one entity type without their Go type, which do what the API says.
//   - delete.go: a delete from its first write to its last; doc.go says why in steps.
//   - journal.go: what is stored of an unfinished delete, the phases and their changes.
//   - run.go: the id that everything has which one delete hides.
//   - restrict.go: whether Restrict forbids a delete; plan.go: what it would do.
//   - walk.go, parent_group.go: the descendants of a document, level by level.
//   - retention.go: what a delete leaves, to be restored or as a tombstone.
//   - restore.go: Restore and Purge; rollback.go: how a delete is rolled back.
//   - resume.go, sweep.go, attempts.go: what goes on after a process died or met another.
//   - overlapping_delete.go: deletes, purges and restores that others have begun below.
//   - parent_check.go: that the parent is there, before and after a write of a child.
//   - parent_recheck.go: the same once more, where the look after the write failed.
//   - parent_lookup.go, parent_key.go: how parents are found and named.
//   - apply_rule.go: the delete rule, for a child whose parent is gone or deleted softly.
//   - join_ended_delete.go: a child that was left when a soft delete of its parent had ended.
//   - move.go, move_recovery.go: Move, and how one is ended whose process died.
//   - duplicate_parent_id.go: parents of one id that can't be told apart.
//   - delete_hook.go, batch_delete.go: how the verbs of package repository get here.
//   - load.go: a parent with its children, read together.
//   - bucket.go, entries.go: many small children in one document; append.go: where an entry finds room;
//     newest_bucket.go: what a process knows of that.
package parented
