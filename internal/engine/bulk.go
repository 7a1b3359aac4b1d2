package engine

// BulkOptions are those of package repository, which says what they mean.
type BulkOptions struct {
	Concurrency int
	Progress    func(Progress)
	Resume      string
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
