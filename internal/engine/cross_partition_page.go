package engine

import (
	"fmt"
	"slices"

	"github.com/cosmosgrove/grove/internal/codec"
	"github.com/cosmosgrove/grove/internal/merge"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Position is where a page over several partitions ended. It names parts of
// the key space, not partitions, so that it stays good when those change.
type Position struct {
	// Ranges is what is left to read.
	Ranges []keyRange `json:"s"`
	// After is the last document that was given, of an ordered query: those
	// up to it are left out, wherever they are met.
	After *merge.SortKey `json:"p,omitempty"`
	// Left is how many documents the query's limit leaves; 0 is no limit.
	Left int `json:"l,omitempty"`
}

// A position holds a token of the service for every partition that was begun.
// With more than maxTokenBytes of them they are left out: such partitions are
// then read again up to the last document given, which costs more.
const (
	maxTokenBytes    = 12 << 10
	maxPositionBytes = maxCursorBytes/4*3 - 1 - cursorMAC
)

// Encode makes the text of a cursor.
func (p Position) Encode() (string, error) {
	tokens := 0
	for _, s := range p.Ranges {
		tokens += len(s.From)
	}
	if p.After != nil && tokens > maxTokenBytes {
		p.Ranges = slices.Clone(p.Ranges)
		for i := range p.Ranges {
			p.Ranges[i].From = ""
		}
	}
	p.Ranges = join(p.Ranges)
	text, err := codec.Encode(p)
	if err != nil {
		return "", err
	}
	if len(text) > maxPositionBytes {
		return "", &unsupportedError{clause: "Page with ORDER BY", reason: "a document is sorted by more than a cursor can hold", hint: "sort by a shorter field, or use Query"}
	}
	return string(text), nil
}

func decodePosition(text string, partitions int) (Position, error) {
	var p Position
	if err := codec.Decode([]byte(text), &p); err != nil {
		return p, ErrCursorShape
	}
	for _, s := range p.Ranges {
		if s.Partition < 0 || s.Partition >= partitions {
			return p, ErrCursorShape
		}
	}
	return p, nil
}

// ErrCursorShape is for a cursor that was made before the entity type got, or
// lost, an older name.
var ErrCursorShape = &tenantitem.InvalidError{What: "cursor", Reason: "it was made for another layout of the entity type", Hint: "start again without a cursor"}

// Begin is where a page starts.
func (p *plan) Begin(c *Collection, q Query, from string) (Position, error) {
	if from == "" {
		return Position{Ranges: p.ranges(c), Left: q.limit}, nil
	}
	return decodePosition(from, len(p.partitions))
}

// Wanted is how many documents a page may hold.
func (p Position) Wanted(size int) int {
	if p.Left > 0 {
		return min(size, p.Left)
	}
	return size
}

// unsupportedError names the clause that can't be served.
type unsupportedError struct{ clause, reason, hint string }

// Error names the clause, the reason and the way out.
func (e *unsupportedError) Error() string {
	return fmt.Sprintf("%s: %s: %s (%s)", ErrUnsupported, e.clause, e.reason, e.hint)
}

// Unwrap returns [ErrUnsupported].
func (e *unsupportedError) Unwrap() error { return ErrUnsupported }
