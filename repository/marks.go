package repository

import (
	"slices"
	"strings"
	"sync"

	documents "github.com/cosmosgrove/grove/internal/document"
)

// Every write leaves a mark, "writer:number", in the document, beside the
// entity's own fields. A write whose answer was lost is recognised by it when
// the document is read back, even after others have written on top:
//
//   - a write that does not know what it replaces starts a list with its mark
//     as the root: "+mark" for Create, which found nothing there, and "*mark"
//     for Replace of an entity that the caller holds, and for Upsert;
//   - one that does know it (Mutate) puts its mark in front and keeps the root
//     and the newest mark of every earlier writer, and marks of its own whose
//     answers are still missing;
//   - a patch sets one member, which the next Mutate moves into the list.
//
// Two documents with the same root, or with a mark in common, are therefore
// connected by writes that all left their marks.
const (
	marksField = "_ops"
	markField  = "_op"
	// maxMarks bounds the list, about 14 bytes each. It is the number of
	// processes that can change one document at about the same time and still
	// tell their lost writes apart.
	maxMarks = 96

	createdRoot     = "+"
	overwrittenRoot = "*"
)

// marked is what a document tells of its last writes.
type marked struct {
	ID, ETag string
	Marks    []string // _ops
	Mark     string   // _op

	raw []byte // the document, where a write is about to replace it
}

// readMarks reads what a document tells of its last writes. What something
// else wrote under the names of the marks counts as none.
func readMarks(raw []byte) *marked {
	h := documents.ReadHeader(raw)
	return &marked{ID: h.ID, ETag: h.ETag, Marks: h.Marks, Mark: h.Mark}
}

// marksOf is the list of marks for a document that an operation stores whole.
// What a replacement takes the place of is known as far as the entity was read.
func (c *core) marksOf(op *operation, kind operationKind, entity any) []string {
	if kind == opCreate {
		return []string{createdRoot + op.mark}
	}
	if kind == opReplace {
		if op.before = heldMarks(entity, op.etag); op.before != nil {
			return op.before.marksOver(op.mark, &c.doubts)
		}
	}
	return []string{overwrittenRoot + op.mark}
}

// heldMarks are the marks that an entity was read with; nil for none.
func heldMarks(entity any, etag string) *marked {
	list, last := documents.Of(entity).Earlier()
	if len(list) == 0 && last == "" {
		return nil
	}
	return &marked{ETag: etag, Marks: list, Mark: last}
}

func isRoot(mark string) bool {
	return strings.HasPrefix(mark, createdRoot) || strings.HasPrefix(mark, overwrittenRoot)
}

func (d *marked) carries(mark string) bool {
	if d.Mark == mark || slices.Contains(d.Marks, mark) {
		return true
	}
	root := d.root()
	return root != "" && root[1:] == mark
}

// root returns where the list of marks begins; "" for a list that was cut,
// and for a document that something else wrote.
func (d *marked) root() string {
	if n := len(d.Marks); n > 0 && isRoot(d.Marks[n-1]) {
		return d.Marks[n-1]
	}
	return ""
}

// overtaken stands for the etag of a write that was written over before it was
// read back. The etag that the document has now would let the caller undo what
// it has not seen; no document has this one, so a replacement is refused.
const overtaken = `"overtaken"`

// etagOf returns the etag that a write of this document brought.
func (d *marked) etagOf(mark string) string {
	newest := d.Mark
	if newest == "" && len(d.Marks) > 0 {
		newest = strings.TrimLeft(d.Marks[0], createdRoot+overwrittenRoot)
	}
	if newest != mark {
		return overtaken
	}
	return d.ETag
}

// leadsTo reports whether a later state of the document came from this one by
// writes that all left their marks.
func (d *marked) leadsTo(later *marked) bool {
	if root := d.root(); root != "" && root == later.root() {
		return true
	}
	return slices.ContainsFunc(d.Marks, func(mark string) bool { return slices.Contains(later.Marks, mark) })
}

// marksOver returns the list for a document that replaces this one. A list
// that is full loses its root and its oldest marks.
func (d *marked) marksOver(mark string, open *doubts) []string {
	if len(d.Marks) == 0 {
		return []string{overwrittenRoot + mark}
	}
	out := append(make([]string, 0, len(d.Marks)+2), mark)
	if d.Mark != "" {
		out = append(out, d.Mark)
	}
	writer, _, _ := strings.Cut(mark, ":")
	for _, old := range d.Marks {
		if w, _, _ := strings.Cut(strings.TrimLeft(old, createdRoot+overwrittenRoot), ":"); w != writer || isRoot(old) || open.has(old) {
			out = append(out, old)
		}
	}
	if len(out) > maxMarks {
		out = out[:maxMarks/2]
	}
	return out
}

// doubts are the marks of this process's writes whose answers are missing. A
// later write of the process must carry them forward, since they are what the
// earlier one is recognised by.
type doubts struct {
	mu    sync.Mutex
	marks map[string]int
}

func (d *doubts) add(ops []operation) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.marks == nil {
		d.marks = map[string]int{}
	}
	for i := range ops {
		if ops[i].mark != "" {
			d.marks[ops[i].mark]++
		}
	}
}

// resolve forgets the marks of operations whose outcome was told.
func (d *doubts) resolve(ops []operation) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range ops {
		delete(d.marks, ops[i].mark)
	}
}

func (d *doubts) has(mark string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.marks[mark] > 0
}
