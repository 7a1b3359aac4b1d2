package repository

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/repository/internal/codec"
)

// Every write leaves a stamp, "writer:number", in the document, beside the
// entity's own fields. A write whose answer was lost is recognised by it when
// the document is read back, even after others have written on top:
//
//   - a write of a whole document that knows what it replaces (Create, Mutate)
//     keeps the newest stamp of every earlier writer;
//   - one that does not (Replace of an entity that the caller holds, Put)
//     starts a new list, and says so with a root: "*" and its own stamp, at
//     the end of the list. Two documents with the same root are connected by
//     writes that all left their stamps.
//   - a patch sets one member, which the next whole write moves into the list.
const (
	stampsField = "_ops"
	stampField  = "_op"
	// maxStamps bounds the list, about 14 bytes each; a longer one starts anew.
	maxStamps = 64
	rootMark  = "*"
)

// stored is what a document tells of its last writes.
type stored struct {
	ETag   string   `json:"_etag"`
	Stamps []string `json:"_ops"`
	Stamp  string   `json:"_op"`
}

func readStored(raw []byte) (*stored, error) {
	var d stored
	if err := codec.Decode(raw, &d); err != nil {
		return nil, &decodeError{err}
	}
	return &d, nil
}

func (d *stored) carries(stamp string) bool {
	return d.Stamp == stamp || slices.Contains(d.Stamps, stamp)
}

// root returns where the list of stamps begins; "" is the document's creation.
func (d *stored) root() string {
	if n := len(d.Stamps); n > 0 && strings.HasPrefix(d.Stamps[n-1], rootMark) {
		return d.Stamps[n-1]
	}
	return ""
}

// stampsOver returns the list for a document that replaces this one.
func (d *stored) stampsOver(stamp string) []string {
	if len(d.Stamps) == 0 || len(d.Stamps) >= maxStamps {
		return freshStamps(stamp)
	}
	out := append(make([]string, 0, len(d.Stamps)+2), stamp)
	if d.Stamp != "" {
		out = append(out, d.Stamp)
	}
	writer, _, _ := strings.Cut(stamp, ":")
	for _, old := range d.Stamps {
		if w, _, _ := strings.Cut(old, ":"); w != writer {
			out = append(out, old)
		}
	}
	return out
}

// freshStamps is the list of a write that does not know what it replaces.
func freshStamps(stamp string) []string { return []string{stamp, rootMark + stamp} }

// basis is what a write requires of the document that it finds.
type basis struct {
	// etag that the write requires; "" when it requires none.
	etag string
	// absent: the write requires that there is no document.
	absent bool
	// before is the document that the write replaces, where it is known.
	before *stored
}

// lookFor reads a document back after a write's answer was lost.
func (k *call) lookFor(ctx context.Context, at *partition, stamp string, on basis, etag *string) (outcome, error) {
	raw, err := k.readItem(ctx, at)
	if statusOf(err) == http.StatusNotFound {
		if on.absent {
			return notApplied, nil
		}
		return unknown, nil // deleted, before this write or after it
	}
	if err != nil {
		return unknown, err
	}
	now, err := readStored(raw)
	if err != nil {
		return unknown, err
	}
	switch {
	case now.carries(stamp):
		*etag = now.ETag
		return applied, nil
	case on.etag != "" && now.ETag == on.etag:
		return notApplied, nil
	case len(now.Stamps) == 0:
		return unknown, nil // last written by something else than this package
	case on.absent && now.root() == "", on.before != nil && now.root() == on.before.root():
		return notApplied, nil
	}
	return unknown, nil
}
