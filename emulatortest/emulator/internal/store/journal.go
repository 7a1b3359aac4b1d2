package store

// Journal keeps an account on disk as keys with values; package durable implements it. The store appends what every
// request changes and answers the request only when the journal says that the change is safe.
type Journal interface {
	// Load calls yield with everything that is kept, in the order of the keys, and stops at the first error. It is called
	// once, before the first Append. The value belongs to the callee.
	Load(yield func(key string, value []byte) error) error
	// Append queues the mutations as one unit that is kept whole or not at all. Units are kept in the order of the calls.
	// It does not block; wait returns when the unit is durable, or why it is not. Once a unit failed all later ones fail.
	Append(unit []Mutation) (wait func() error)
	// Close waits for everything appended and releases the journal.
	Close() error
}

// Mutation is one change of the journal's keys.
type Mutation struct {
	// Key is what is written or removed.
	Key string
	// Value is the new value; nil removes the key.
	Value []byte
	// Prefix removes every key that begins with Key; Value is ignored.
	Prefix bool
}

// The first part of each kind of key.
const (
	keyAccount   = "a"
	keyDatabase  = "d/"
	keyContainer = "c/"
	keyOffer     = "o/"
	keyRange     = "p/"
	keyItem      = "i/"
	keyVersion   = "v/"
	keyScript    = "s/"
	keyClientKey = "k/"
	keyUser      = "u/"
)

func nothingToWrite() error { return nil }
