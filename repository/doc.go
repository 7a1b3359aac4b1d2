// Package repository reads and writes typed documents of a multi-tenant
// service on Azure Cosmos DB, over the unchanged SDK (azcosmos).
//
// A [Repository] serves one entity type. It is bound to a tenant before anything
// can be done with it, and the partition key is derived from that scope and
// the entity, never passed beside it:
//
//	acme := notes.In("acme")
//	err := acme.Create(ctx, &Note{Title: "first"})
//	note, err := acme.Get(ctx, id)
//
// # Verbs
//
// Get, GetMany and Exists are about documents by id. Create, Replace, Save and
// Upsert are kept apart by what they expect to find; Mutate reads, changes and
// replaces until no other writer came between; Patch changes parts; Delete
// applies the delete rules. Batch is one transaction in one logical partition,
// SaveAll and DeleteAll are bulk with a receipt for every item. Query, First,
// Count, Page and Project look for documents; Sum, Avg, Min, Max, Distinct and
// GroupBy calculate over them.
//
// # The types, in the order of need
//
//   - [Repository], of one entity type: package registry makes it, or [New]
//     with a [Config].
//   - [Scope], which In binds to a tenant: every verb is a method of it.
//     [Reader] is its reading half.
//   - [Query], made by [All], [Where] or [SQL], of [Predicate] values such as
//     [Eq]; [PageOptions] and [Page]; [Explanation], what a query would send.
//   - [Error], which every verb returns, and those with more to tell:
//     [ConflictError], [MissingError], [BatchError], [DecodeError].
//   - [Edits] for Patch, [Batch] for a transaction, [DeleteOptions] and
//     [DeletePlan] for Delete.
//   - [BulkOptions], [Receipt], [ItemReceipt] and [ItemStatus] for SaveAll and
//     DeleteAll.
//   - [Tally], what was used up; [Telemetry], where it is reported;
//     [Sessions], how far a container was seen.
//   - [RepositoryOf], [ScopeOf] and [BatchOf], of which Repository, Scope and
//     Batch are names, and whose methods theirs are: the same over pointers,
//     which Go compiles once for all entities.
//
// # Across partitions
//
// All queries work in a scope of several partitions too: a prefix of the key,
// an entity type with older names, all tenants. The gateway of the service sorts and
// aggregates within one partition only, so every physical partition that may
// hold something is asked by itself and the answers are merged, with a page of
// each in memory. Partitions that the service divides or joins meanwhile are
// followed. The cost grows with the number of partitions: a sorted query asks
// each of them for a page before the first document is given, and so does every
// sorted [ScopeOf.Page]. Where the partitions lie is asked once for a repository,
// which costs about one small read for each.
//
// # What is refused
//
// Bad input is [ErrInvalid] before any request. A scope, an entity and a
// context (see [WithTenant]) that do not name one tenant are
// [ErrTenantMismatch]. Only [RepositoryOf.AllTenants] reads across tenants.
// Every document that comes back is checked for its tenant and entity type.
//
// # What is retried
//
// Throttling (429, 449) is waited out within the caller's deadline, with
// jitter. Reads are repeated when the service does not answer. A write without
// an answer is looked for in the database, and only proof decides: its mark, or
// the etag that it requires. Without proof the error is [ErrAmbiguous]; that
// nothing is seen proves nothing.
//
// Such a write is recognised by a mark that every write leaves in the document
// (the members _ops and _op, about 25 bytes), even when others have written on
// top of it since.
//
// # Bulk
//
// SaveAll and DeleteAll read their input as they go, send it in transactional
// batches, several at a time, as many as the container's throughput allows, and
// give every item a receipt. A run that was stopped, by a deadline, a budget or
// a crash, goes on from the token that its Progress or its receipt holds, and
// recognises what it had stored before.
//
// # Sessions
//
// A repository reads its own writes, on accounts with session consistency too:
// it keeps the session token of every answer and attaches it to every read.
// [RepositoryOf.SessionToken] and [WithSession] take that to another process.
//
// # Cost and telemetry
//
// [WithTally] counts the request units of everything done under a context and
// [WithBudget] ends what costs too much. Package ceiling makes work give way to
// other work. [Telemetry] reports every verb to OpenTelemetry, and
// what deserves a look to a logger.
//
// # JSON
//
// Entities are encoded under the rules of encoding/json with two differences:
// member names match exactly, case included, and a name that occurs twice in a
// document is an error.
//
// To those who change the package: a verb is a file of its own, and
// verb.go lists what belongs to one.
package repository
