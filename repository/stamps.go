package repository

import (
	"context"
	"net/http"
	"slices"
	"strings"

	documents "github.com/cosmosgrove/grove/internal/document"
)

// Every write leaves a stamp, "writer:number", in the document, beside the
// entity's own fields. A write whose answer was lost is recognised by it when
// the document is read back, even after others have written on top:
//
//   - a write that does not know what it replaces starts a list with its stamp
//     as the root: "+stamp" for Create, which found nothing there, and "*stamp"
//     for Replace of an entity that the caller holds, and for Put;
//   - one that does know it (Mutate) puts its stamp in front and keeps the root
//     and the newest stamp of every earlier writer, which tells of all of that
//     writer's, since its mutations of one document take turns;
//   - a patch sets one member, which the next Mutate moves into the list.
//
// Two documents with the same root, or with a stamp in common, are therefore
// connected by writes that all left their stamps.
const (
	stampsField = "_ops"
	stampField  = "_op"
	// maxStamps bounds the list, about 14 bytes each. It is the number of
	// processes that can change one document at about the same time and still
	// tell their lost writes apart.
	maxStamps = 96

	createdRoot     = "+"
	overwrittenRoot = "*"
)

// stored is what a document tells of its last writes.
type stored struct {
	ID     string   `json:"id"`
	ETag   string   `json:"_etag"`
	Stamps []string `json:"_ops"`
	Stamp  string   `json:"_op"`

	raw []byte // the document, where a write is about to replace it
}

func readStored(raw []byte) (*stored, error) { //nolint:unparam // what a header holds never fails
	h := documents.ReadHeader(raw)
	return &stored{ID: h.ID, ETag: h.ETag, Stamps: h.Marks, Stamp: h.Mark}, nil
}

func isRoot(stamp string) bool {
	return strings.HasPrefix(stamp, createdRoot) || strings.HasPrefix(stamp, overwrittenRoot)
}

func (d *stored) carries(stamp string) bool {
	if d.Stamp == stamp || slices.Contains(d.Stamps, stamp) {
		return true
	}
	root := d.root()
	return root != "" && root[1:] == stamp
}

// root returns where the list of stamps begins; "" for a list that was cut,
// and for a document that something else wrote.
func (d *stored) root() string {
	if n := len(d.Stamps); n > 0 && isRoot(d.Stamps[n-1]) {
		return d.Stamps[n-1]
	}
	return ""
}

// overtaken stands for the etag of a write that was written over before it was
// read back. The etag that the document has now would let the caller undo what
// it has not seen; no document has this one, so a replacement is refused.
const overtaken = `"overtaken"`

// etagOf returns the etag that a write of this document brought.
func (d *stored) etagOf(stamp string) string {
	newest := d.Stamp
	if newest == "" && len(d.Stamps) > 0 {
		newest = strings.TrimLeft(d.Stamps[0], createdRoot+overwrittenRoot)
	}
	if newest != stamp {
		return overtaken
	}
	return d.ETag
}

// leadsTo reports whether a later state of the document came from this one by
// writes that all left their stamps.
func (d *stored) leadsTo(later *stored) bool {
	if root := d.root(); root != "" && root == later.root() {
		return true
	}
	return slices.ContainsFunc(d.Stamps, func(stamp string) bool { return slices.Contains(later.Stamps, stamp) })
}

// stampsOver returns the list for a document that replaces this one. A list
// that is full loses its root and its oldest stamps.
func (d *stored) stampsOver(stamp string) []string {
	if len(d.Stamps) == 0 {
		return []string{overwrittenRoot + stamp}
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
	if len(out) > maxStamps {
		out = out[:maxStamps/2]
	}
	return out
}

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
		return on.judge(nil, stamp), nil
	}
	if err != nil {
		return unknown, err
	}
	now, err := readStored(raw)
	if err != nil {
		return unknown, err
	}
	*etag = now.etagOf(stamp)
	return on.judge(now, stamp), nil
}

// judge decides about a write by the document as it is now; nil is none.
func (b basis) judge(now *stored, stamp string) outcome {
	switch {
	case now == nil && b.absent:
		return notApplied
	case now == nil:
		return unknown // deleted, before this write or after it
	case now.carries(stamp):
		return applied
	case b.etag != "" && now.ETag == b.etag:
		return notApplied
	// Another creation, or what followed from one. Had this one come first and
	// been deleted again, the refusal would be as true.
	case b.absent && strings.HasPrefix(now.root(), createdRoot):
		return notApplied
	case b.before != nil && b.before.leadsTo(now):
		return notApplied
	}
	return unknown
}
