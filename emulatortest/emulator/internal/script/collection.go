package script

// Collection is what a script's operations work on: one logical partition, within one transaction. Its methods are called
// from the goroutine that runs the script.
type Collection interface {
	// SelfLink and AltLink are the container's links by rid and by name, as getSelfLink() and getAltLink() give them.
	SelfLink() string
	AltLink() string
	// Do runs one operation. The error of an operation that is refused is an [*Error].
	Do(Operation) (Reply, error)
	// Next gives documents in the order of their rids, beginning after the given place, and the place after the last one.
	Next(after string, most int) (documents [][]byte, last string, err error)
}

// Kind says what an [Operation] does.
type Kind string

// The kinds of operation.
const (
	Read    Kind = "read"
	List    Kind = "list"
	Query   Kind = "query"
	Create  Kind = "create"
	Upsert  Kind = "upsert"
	Replace Kind = "replace"
	Delete  Kind = "delete"

	nothing Kind = "nothing" // takes its turn in the queue and does nothing
)

// Operation is one call of the server-side API.
type Operation struct {
	Kind Kind
	// ID or RID names the document, for all kinds but Create, Upsert, List and Query.
	ID, RID string
	// Body is the document, or the query in the form of the REST API.
	Body []byte
	// IfMatch and IfNoneMatch are etags; empty means no condition.
	IfMatch, IfNoneMatch string
	// Unindexed keeps the document out of queries.
	Unindexed bool
	// Continuation and PageSize belong to List and Query. A size of 0 means the default, -1 as many as fit into a page.
	Continuation string
	PageSize     int
	// EnableScan lets a query read paths that have no index.
	EnableScan bool
}

// Reply is the answer to an [Operation].
type Reply struct {
	Status int
	// Body is the document, or for List and Query an array of them.
	Body []byte
	// Continuation is where the next page begins; empty after the last one.
	Continuation string
	// Charge is in request units.
	Charge float64
}
