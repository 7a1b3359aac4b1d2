package repository

// DeletePlan says what a delete would do; nothing was changed.
type DeletePlan struct {
	// Removed counts the documents that would go, by entity type; the one
	// that is deleted is among them.
	Removed map[string]int64
	// Orphaned counts the children that would stay without their parent.
	Orphaned map[string]int64
	// Restricting counts the children that forbid the delete. If there are
	// any, Delete fails with [ErrHasChildren] and nothing goes.
	Restricting map[string]int64
	// RequestUnits is about what the delete would cost, in RU, for documents
	// of about 1 KB under the default indexing policy.
	RequestUnits float64
	// Token names what was shown, for [DeleteOptions].Plan: text that can be sent to a
	// person's browser and back. It holds the document's id and the counts, and is
	// not signed: who makes one up confirms what was not shown.
	Token string
}
