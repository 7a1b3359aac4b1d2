package engine

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/internal/codec"
	"github.com/cosmosgrove/grove/internal/merge"
	"github.com/cosmosgrove/grove/tenantitem"
)

// A page cursor is base64url text, safe in a URL: a version byte, a signature,
// and where the query goes on. The signature covers what the cursor is good
// for (entity type, scope with its tenant, and query: boundTo in page.go of repository), which is therefore not repeated in it.
// Where the query goes on is the service's continuation in one partition, and
// else a [Position]. Nothing of it is secret: who has a cursor can read it, the
// values that the last document was sorted by included, and can't change it.
const (
	cursorVersion  = 1
	cursorMAC      = 16
	minCursorKey   = 16
	maxCursorBytes = 32 << 10
)

// cursorSigner holds its key in a function, whose address is all that is
// printed of it, however deep a format looks into a repository.
type cursorSigner struct{ key func() []byte }

func newCursorSigner(key []byte) (cursorSigner, error) {
	if key == nil {
		key = make([]byte, sha256.Size)
		rand.Read(key) // never fails: it ends the process instead
	}
	if len(key) < minCursorKey {
		return cursorSigner{}, &tenantitem.InvalidError{What: "cursor key", Reason: "it is shorter than 16 bytes", Hint: "use 32 random bytes, the same in every process of the service"}
	}
	return cursorSigner{func() []byte { return key }}, nil
}

func (s cursorSigner) Seal(boundTo, position string) string {
	out := append([]byte{cursorVersion}, s.mac(boundTo, position)...)
	return base64.RawURLEncoding.EncodeToString(append(out, position...))
}

func (s cursorSigner) Open(boundTo, cursor string) (position string, err error) {
	refuse := func(reason string) (string, error) {
		return "", &tenantitem.InvalidError{What: "cursor", Reason: reason, Hint: "start again without a cursor; one is good only for the tenant, the query and the CursorKey that it was made with"}
	}
	if len(cursor) > maxCursorBytes {
		return refuse("it is too long")
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(raw) < 1+cursorMAC || strings.ContainsAny(cursor, "\r\n") { // which the decoder passes over
		return refuse("it is not one of ours")
	}
	if raw[0] != cursorVersion {
		return refuse("it has another version")
	}
	position = string(raw[1+cursorMAC:])
	if !hmac.Equal(raw[1:1+cursorMAC], s.mac(boundTo, position)) {
		return refuse("its signature does not match")
	}
	return position, nil
}

func (s cursorSigner) mac(boundTo, position string) []byte {
	h := hmac.New(sha256.New, s.key())
	h.Write([]byte{cursorVersion})
	h.Write([]byte(boundTo))
	h.Write([]byte{0})
	h.Write([]byte(position))
	return h.Sum(nil)[:cursorMAC]
}

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
