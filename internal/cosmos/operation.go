package cosmos

// OperationKind is what an operation does to its document.
type OperationKind uint8

// The operations of the service. Reads are for batches; see [ReadItem].
const (
	OpCreate OperationKind = iota + 1
	OpReplace
	OpUpsert
	OpPatch
	OpDelete
	OpRead
)

// String returns the verb that errors name.
func (o OperationKind) String() string {
	return [...]string{OpCreate: "Create", OpReplace: "Replace", OpUpsert: "Upsert", OpPatch: "Patch", OpDelete: "Delete", OpRead: "Read"}[o]
}

// Operation is one operation on one document as it is sent, alone by [Write]
// or in a [Batch].
type Operation struct {
	Kind OperationKind
	ID   string
	// ETag is what a replacement, a patch or a delete requires of the
	// document; "" for any.
	ETag  string
	Body  []byte // of OpCreate, OpReplace and OpUpsert
	Patch Patch  // of OpPatch
}
