package engine

// BulkOptions change how SaveAll and DeleteAll work; nil is the defaults.
type BulkOptions struct {
	// Concurrency is the most batches in flight, 1 to 256. The run starts with
	// few, sends more while the service keeps up, and halves them when it
	// throttles. Defaults to 16.
	Concurrency int
	// Progress, where set, is called before the first request and whenever
	// items were done with, one call at a time, from several goroutines. Keep its
	// Resume where a restart finds it.
	Progress func(Progress)
	// Resume goes on with a run that was stopped: it is the Resume of that
	// run's receipt, or of its last Progress. The input must be the same, in
	// the same order. Items that the earlier run was done with are passed over, and
	// items that it stored without getting to know are recognised.
	//
	// A token is signed with the repository's CursorKey and is refused by
	// another verb, entity type or scope.
	Resume string
}

// Progress is how far a bulk is.
type Progress struct {
	// Done is how many items at the beginning of the input are done with.
	Done int
	// Succeeded and Failed count items of this run, in any order.
	Succeeded, Failed, Unknown int
	// Resume goes on behind those that are done with; see [BulkOptions.Resume].
	Resume string
}

// BulkWindow is how many entities hooks see at once, so that what they read
// for them is read once and not for each batch.
const BulkWindow = 1000
