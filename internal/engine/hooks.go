package engine

import "context"

// Hooks are how the packages above take part in a repository's verbs. They are
// set while the application is wired, before the first verb.
type Hooks struct {
	// BeforeWrite sees the entities of one write, or of a whole bulk, as
	// pointers to the repository's type, before they are encoded.
	BeforeWrite []func(ctx context.Context, tenant string, entities []any) error
	// Fill sees them after that and may change them and hide members beside
	// them. A bulk's are seen many at a time.
	Fill []func(ctx context.Context, w *Write) error
	// Guarded are the members that a patch may not change.
	Guarded []GuardedPath
	// Moves makes a change of a child's parent leave the old one in the
	// document, see MovedField.
	Moves bool
	// BeforeDelete may refuse the delete of a document by the application. It
	// does not see what goes with another document.
	BeforeDelete []func(ctx context.Context, d Deletion) error
	// Transaction says what changes in the same transaction as a document does.
	Transaction TransactionHook
	// AfterWrite sees them once they are stored; created says that each of
	// them is a new document. An error becomes the verb's.
	AfterWrite []func(ctx context.Context, tenant string, entities []any, created bool) error
	// Tombstones hides documents whose deletedAt is set, as Config.Tombstones does.
	Tombstones bool
	// Delete takes the place of removing the one document.
	Delete func(ctx context.Context, d Deletion) error
	// BatchDelete says how a delete under rules begins inside a batch, and how
	// it goes on once the batch is applied. It must do no I/O.
	BatchDelete func(d Deletion) (BatchDeletion, error)
	// PlanDelete says what Delete would do.
	PlanDelete func(ctx context.Context, d Deletion) (*DeletePlan, error)
	// Restore brings a document back that was deleted softly.
	Restore func(ctx context.Context, d Deletion) error
	// Purge removes a document that was deleted softly.
	Purge func(ctx context.Context, d Deletion) error
}

// Deletion is a delete that a hook carries out.
type Deletion struct {
	// TenantID and ID name the document.
	TenantID, ID string
	// Key are the scope's further key values, as they were given to In.
	Key []any
	// ETag is what the caller requires the document to have; empty is any.
	ETag string
	// Shown is what a plan showed, by entity type; nil where there was none. The delete
	// does no more, see [PlanChangedError].
	Shown map[string]int64
	// Remove deletes the one document.
	Remove func(ctx context.Context, etag string) error
}

// BatchDeletion is a delete that begins with a mark in the document.
type BatchDeletion struct {
	// Mark holds the DeletedAt, TTL and Deletion that are set.
	Mark Stub
	// Finish carries the delete out; nil when the mark is all of it.
	Finish func(ctx context.Context) error
}

// Attach adds hooks. It must not be called once verbs are in use.
func (c *Collection) Attach(h Hooks) {
	c.Hooks.BeforeWrite = append(c.Hooks.BeforeWrite, h.BeforeWrite...)
	c.Hooks.Fill = append(c.Hooks.Fill, h.Fill...)
	c.Hooks.Guarded = append(c.Hooks.Guarded, h.Guarded...)
	c.Hooks.Moves = c.Hooks.Moves || h.Moves
	c.Hooks.BeforeDelete = append(c.Hooks.BeforeDelete, h.BeforeDelete...)
	c.Hooks.AfterWrite = append(c.Hooks.AfterWrite, h.AfterWrite...)
	c.Tombstones = c.Tombstones || h.Tombstones
	if h.Transaction != nil {
		c.Hooks.Transaction = h.Transaction
	}
	if h.Delete != nil {
		c.Hooks.Delete = h.Delete
	}
	if h.BatchDelete != nil {
		c.Hooks.BatchDelete = h.BatchDelete
	}
	if h.PlanDelete != nil {
		c.Hooks.PlanDelete = h.PlanDelete
	}
	if h.Restore != nil {
		c.Hooks.Restore = h.Restore
	}
	if h.Purge != nil {
		c.Hooks.Purge = h.Purge
	}
}
