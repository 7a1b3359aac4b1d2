// Package engine reads and writes the documents of one entity type in one
// container, a [Collection]: the one way of a write (an operation, sent alone or
// in a batch, to an outcome), the one way of a read (pages of one partition or of
// many), sessions, key ranges, and what packages above add to writes. It knows no
// Go type of an application: documents are JSON with a header. Packages
// repository, parented, registry and denorm are the shells over it.
// docs/internals.md follows one write through it, and repository/verb.go
// says what a further verb needs.
//
// # The files
//
//   - A write: operation.go is one as a value, transaction*.go what changes together
//     with it, retry.go the only loop, send.go an attempt, outcome.go and marks.go
//     what became of one whose answer was lost. write.go, batch.go and edits*.go
//     are the verbs' side of it, bulk*.go many of them with receipts.
//   - Where it lies: collection.go, scope.go, partition_key.go, locate.go, layout.go,
//     and whose it is: tenant_check.go, entity_type_check.go, alias.go.
//   - A read: query.go and predicate*.go what is asked for, query_sql.go its SQL,
//     fetch.go and row.go a page of one partition, cursor.go where the next begins;
//     get.go, byid.go and read_together.go by id. Of many partitions:
//     physical_partitions.go, key_range.go, cross_partition.go, and sorted.go,
//     group.go, distinct.go and aggregate.go, which merge their answers.
//   - For packages above: hooks.go what may be attached to a collection, fill.go and
//     encode.go before a write, delete_plan.go what a delete would take; document*.go and
//     patch_documents.go read and change documents of which no Go type is known,
//     journal.go what a delete leaves in them, tenant_contents.go all that a tenant has.
//   - Around all: call.go one verb under way, errors.go, telemetry.go, session*.go how
//     far the container was seen, ceiling*.go whose turn it is, request_charge.go.
package engine
