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
// # The types, in the order of need
//
//   - [Handler], which is given each [Change].
//   - [Processor], which [New] makes of a handler and a [Config]; [Start],
//     where it begins; [MissingLease], where it goes on when a lease was
//     deleted.
//   - [RangeLag], how far it is behind; [Quarantined], what it put aside;
//     [ReplayOption], how that is tried again.
//   - [WatchOptions], for [Watch].
//
// # What it promises
//
// Every change is handled at least once, in order within a logical partition:
// while an instance owns a range, the changes of a logical partition come in
// the order in which they were made, and after a crash, a failure or a
// takeover everything after the last checkpoint comes again, in that order
// too. No change comes for the first time after a later one of its logical
// partition was handled. A document that changed several times may be seen in
// its last state only. The position is stored after the handler succeeded,
// never before.
//
// An outage is nobody's fault: while the handler's error is one that passes, of
// the database, of the network or marked by [Transient], the range stands still
// and the same changes are tried again, for as long as it takes. (A body that a
// handler reads itself and that is cut has to be marked: an io.ErrUnexpectedEOF may
// come from a text in the document as well.) A change that
// the handler keeps refusing for another reason, by errors or by panics, is put
// into quarantine as a document, see [Processor.Quarantined] and
// [Processor.Replay], and stops nothing else: what comes after it in its logical
// partition goes on without it. Deletes are not in the feed: mark a document and give it a short
// time to live instead.
//
// # Owners that do not know that they are none
//
// A process can be suspended, by a scheduler, a debugger or a virtual machine's
// move, for longer than [Config.LeaseDuration]. Its ranges are taken over then.
// When it goes on, it may be in the midst of a batch, and the handler finishes
// that batch or what it does before it looks at its context; no other batch is
// begun without the lease. Its checkpoint is refused, and so is whatever else
// it would store in the lease. For the handlers this means that for the length
// of one batch two of them may be given the same changes at the same time, and
// that the late one may bring a version of a document that was overwritten
// since, after later changes of its logical partition: the other has passed
// that version over. A handler for which that matters compares versions where it
// writes, by etag or by a condition, or stores [Change.Epoch] with what it
// writes and refuses a smaller one: those of a logical partition only grow, with
// gaps, also when its range splits or its lease was deleted.
//
// # How the work is shared
//
// One lease document stands for one range of keys, at first a physical
// partition's. The lease's owner processes the range. Leases are taken
// and renewed on the condition of their etag; those of a dead instance are
// taken over once they were not renewed for [Config.LeaseDuration]; a live
// instance with more than its share hands a range over after the batch that it
// works on. Whether a lease was renewed is decided by the observer's own clock,
// so that clocks of different machines need not agree. When a physical
// partition splits, its lease is replaced by its children's, which go on from
// the parent's position. After a merge, both leases read their own part of the
// merged partition.
//
// The lease documents have the ids and members that the processors for .NET
// and Java give theirs, so that autoscalers and estimators find them, and among
// their properties the epoch: how many owners a lease has had. A lease that was
// deleted by hand is made anew; see [MissingLease].
//
// # Without leases
//
// [Watch] shows every process every change, for caches and live pages.
//
// # What this process wrote
//
// A replica may be behind a write that was acknowledged. With [Config.Session]
// every read of a range brings the session token of its physical partition, and
// is answered by a replica that has come as far. [Processor.CatchUp] has then
// seen what this process wrote before the call. Without it, it has seen what
// any replica showed.
//
// # The files
//
//   - processor.go, start.go: the API, and where a processor begins; config.go: how long, how often
//     and how many, with the defaults.
//   - balance.go: which leases an instance takes and hands over; leaseexpiry.go: when one
//     has expired; leasestore.go: why no two instances get the same one.
//   - worker.go: one range from its lease to its loss, in pages; reader.go, session.go: how
//     a page is read; poll.go: when the next one is.
//   - checkpoint.go: when the position is stored; handle.go: how often the handler is called;
//     quarantine.go, replay.go: what it refused; outage.go: what is waited out.
//   - epoch.go: why a lease's epochs grow, also when it was deleted;
//     keyrange.go, overlap.go: splits and merges; missing_leases.go, migrate.go: leases that
//     are gone, or of a former form; lease.go, leaseid.go, leasecontainer.go: their form.
//   - request_retry.go: requests that fail; lag.go, metrics.go; catchup.go.
//   - watch.go, watchposition.go, change.go: every change for every process.
package changefeed
