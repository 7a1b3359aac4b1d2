// Package changefeed processes the change feed of an Azure Cosmos DB container
// with several instances that share the work: what the SDK for Go leaves out.
// It works alone, over any container:
//
//	p, err := changefeed.New(changefeed.Config{
//		Container: orders,
//		Leases:    leases, // a container with the partition key /id
//		Name:      "invoices",
//	}, func(ctx context.Context, changes []changefeed.Change) error {
//		...
//	})
//	err = p.Run(ctx)
//
// # What it promises
//
// Every change is handled at least once, in order within a logical partition;
// a document that changed several times may be seen in its last state only.
// The position is stored after the handler succeeded, never before. A change
// that the handler keeps refusing is put into quarantine as a document, see
// [Processor.Quarantined] and [Processor.Replay], and stops nothing else.
// Deletes are not in the feed: mark a document and give it a short time to
// live instead.
//
// # How the work is shared
//
// One lease document stands for one range of keys, at first a physical
// partition's. Whoever owns the lease processes the range. Leases are taken
// and renewed on the condition of their etag; those of a dead instance are
// taken over once they were not renewed for [Config.LeaseDuration]; a live
// instance with more than its share hands a range over after the batch that it
// works on. When a physical partition splits, its lease is replaced by its
// children's, which go on from the parent's position. After a merge, both
// leases read their own part of the merged partition.
//
// The lease documents have the members that the processors for .NET and Java
// use.
package changefeed
