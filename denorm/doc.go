// Package denorm keeps copies true: fields that repeat a field of another
// document, counts of documents, lists of the newest, and both sides of a
// many-to-many.
//
// A copied field says so in its struct, and says whether it follows:
//
//	type Note struct {
//		tenantitem.TenantItem[Note]
//		OwnerID   tenantitem.Ref[Person] `json:"ownerId,omitempty"`
//		OwnerName string                 `json:"ownerName,omitempty" denorm:"sync,ref=ownerId,field=firstName"`
//	}
//
// A sync copy follows its source; a snapshot records what was true when the
// reference was written, and never changes. Both work in the document, in
// nested objects and in arrays of objects, and are filled by every write:
// Create, Replace, Save, Upsert, Mutate, batches and bulks. A reference to a
// document that does not exist is repository.ErrDanglingRef. What else is kept
// of other documents is declared:
//
//	denorm.Count[Note, Comment]("commentCount", "parentId")
//	denorm.Recent[Note, Comment]("recentComments", 3)
//	denorm.Link[Author, Book]("books", "authors")
//	denorm.OnDelete[Note, Person]("ownerId", denorm.Clear)
//
// With fx, [Module] is all that has to be added to these. Without it, [New],
// [Copies.Extension] and [Copies.Keeper] are the same in plain calls.
//
// # The types, in the order of need
//
//   - The functions above, and [DeleteAction], what becomes of copies of a
//     document that is deleted; [ReferencedError], a delete that it forbids.
//   - [Keeper], which keeps everything true while it runs: CatchUp, Audit and
//     Repair. [Drift] is what an audit finds, [RepairOptions] and
//     [RepairProgress] are of a repair.
//   - [Event] and its [EventKind], what [Watch] shows of each change, with
//     [WatchOptions]. [Process] runs a processor with the application.
//   - Without fx: [Declaration], [Config], and [Copies], which New makes of
//     them.
//
// # How copies stay true
//
// A [Keeper] reads the change feed of every container that holds sources or
// copies. Nothing is carried from a change into a copy: a change only says
// which documents to look at. What they should hold is read anew, and written
// on the condition that the document is still the one that was looked at.
// Therefore a change may be seen twice, late, or by two processes at once:
//
//   - The source is read after the copy was. Who writes an older value over a
//     newer one has read the copy before the newer one was written, and is
//     refused by its etag. So two updates that are seen in the wrong order end
//     with the newer value.
//   - A document that was written meanwhile is looked for again.
//   - A document that holds copies is compared itself when it changes. That
//     finds the copy of a writer who read the source just before it changed
//     and wrote just after the change was followed, a reference that moved,
//     and what was written around Grove.
//
// A document that loses a reference that a parent counts by keeps the old one in
// a hidden member, in the same write, until those who count know of it.
//
// Counts, lists of the newest and links change in the transaction of the
// document that they follow from, where both lie in one logical partition. The
// feed finds these done.
//
// Deletes are not in the feed. Where other documents depend on them, deleted
// documents stay for [Config].Tombstone, hidden.
//
// # What it costs
//
// A write of a document with copies reads the sources, once for each entity type
// however many documents are written together. A write that replaces a
// document reads that too, where it has snapshots, counted references or
// links; Mutate has read it anyway. A changed source costs one query for each
// entity type that copies from it, one read of the sources, and one batch for
// every hundred documents that hold another value.
//
// # For contributors
//
// Read rule.go first, which says what every kind of declaration implements; then
// write_hook.go (writes), follow.go (changes of sources) and audit.go (audit and
// repair). docs/internals.md has the map of the other files.
package denorm
