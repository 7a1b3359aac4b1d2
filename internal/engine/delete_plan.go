package engine

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/tenantitem"
)

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

// Planned is what a token of a plan holds.
type Planned struct {
	EntityType string `json:"type"`
	TenantID   string `json:"tenant"`
	ID         string `json:"id"`
	// Key are the further values of the document's key, as In takes them.
	Key []any `json:"key,omitempty"`
	// Shown counts by entity type what goes or loses its parent.
	Shown map[string]int64 `json:"shown"`
}

// affected counts by entity type what goes or loses its parent.
func (p *DeletePlan) affected() map[string]int64 {
	counts := map[string]int64{}
	for _, some := range []map[string]int64{p.Removed, p.Orphaned} {
		for name, n := range some {
			counts[name] += n
		}
	}
	return counts
}

// SetToken sets the token of a plan for that document.
func (p *DeletePlan) SetToken(entityType string, d Deletion) error {
	text, err := json.Marshal(Planned{EntityType: entityType, TenantID: d.TenantID, ID: d.ID, Key: d.Key, Shown: p.affected()})
	p.Token = base64.RawURLEncoding.EncodeToString(text)
	return err
}

// ReadToken reads the token of a plan for that very document.
func ReadToken(token, entityType string, d Deletion) (map[string]int64, error) {
	var p Planned
	text, err := base64.RawURLEncoding.DecodeString(token)
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil || p.Shown == nil {
		return nil, &tenantitem.InvalidError{What: "plan", Reason: "it is no token of a plan", Hint: "pass the Token of what PlanDelete returned"}
	}
	if p.EntityType != entityType || p.TenantID != d.TenantID || p.ID != d.ID || !slices.Equal(p.Key, d.Key) {
		return nil, &tenantitem.InvalidError{What: "plan", Reason: "it is another document's", Hint: "plan the delete of this document"}
	}
	return p.Shown, nil
}

// PlanChangedError is a delete with a plan that would do more than the plan
// showed; nothing was deleted. It unwraps to [ErrPreconditionFailed].
type PlanChangedError struct {
	// Shown and Found count, by entity type, what the plan showed and what is there now, of
	// the types of which there is more. They are empty where another process that
	// worked on the same delete has found that.
	Shown, Found map[string]int64
}

// Error names the counts.
func (e *PlanChangedError) Error() string {
	if len(e.Found) == 0 {
		return fmt.Sprintf("%s: the tree had grown since the delete was planned, as another process found (plan it again)", ErrPreconditionFailed)
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(e.Found)) {
		parts = append(parts, fmt.Sprintf("%d %s where the plan showed %d", e.Found[name], name, e.Shown[name]))
	}
	return fmt.Sprintf("%s: the tree has grown since the delete was planned: %s (plan it again)", ErrPreconditionFailed, strings.Join(parts, ", "))
}

// Unwrap returns [ErrPreconditionFailed].
func (e *PlanChangedError) Unwrap() error { return ErrPreconditionFailed }

// Exceeds returns the error of a plan that does more than was shown, or nil.
func (p *DeletePlan) Exceeds(shown map[string]int64) error {
	grown := &PlanChangedError{Shown: map[string]int64{}, Found: map[string]int64{}}
	for name, n := range p.affected() {
		if n > shown[name] {
			grown.Shown[name], grown.Found[name] = shown[name], n
		}
	}
	if len(grown.Found) == 0 {
		return nil
	}
	return grown
}

// What one document costs, in RU, for the estimate of a plan: the published
// figures for a document of 1 KB with every property indexed.
const (
	estimatedRead  = 1
	EstimatedWrite = 10
)

// Estimate sets RequestUnits from the counts.
func (p *DeletePlan) Estimate() {
	p.RequestUnits = estimatedRead
	for _, n := range p.affected() {
		p.RequestUnits += float64(n) * EstimatedWrite
	}
}
