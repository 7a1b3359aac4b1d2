package engine

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
//   - a patch sets one member, which the next patch writes over and the next Mutate moves
//     into the list. A patch of ten edits has no room for it (Operations in edits.go); what
//     that means to its caller says Patch in repository/patch.go.
//
// Two documents with the same root, or with a mark in common, are therefore
// connected by writes that all left their marks.
const (
	marksField = documents.Marks
	markField  = documents.Mark
	// maxMarks bounds the list, about 14 bytes each. It is the number of
	// processes that can change one document at about the same time and still
	// tell their lost writes apart.
	maxMarks = 96

	CreatedRoot     = "+"
	OverwrittenRoot = "*"
)

// Marked is what a document tells of its last writes.
type Marked struct {
	ID, ETag string
	Marks    []string // _ops
	Mark     string   // _op

	Raw []byte // the document, where a write is about to replace it
}

// ReadMarks reads what a document tells of its last writes. What something
// else wrote under the names of the marks counts as none.
func ReadMarks(raw []byte) *Marked {
	h := documents.ReadHeader(raw)
	return &Marked{ID: h.ID, ETag: h.ETag, Marks: h.Marks, Mark: h.Mark}
}

// MarksOf is the list of marks for a document that an operation stores whole.
// What a replacement takes the place of is known as far as the entity was read.
func (c *Collection) MarksOf(op *Operation, kind OperationKind, entity any) []string {
	if kind == OpCreate {
		return []string{CreatedRoot + op.Mark}
	}
	if kind == OpReplace {
		if op.Before = HeldMarks(entity, op.ETag); op.Before != nil {
			return op.Before.MarksOver(op.Mark, &c.Doubts)
		}
	}
	return []string{OverwrittenRoot + op.Mark}
}

// HeldMarks are the marks that an entity was read with; nil for none.
func HeldMarks(entity any, etag string) *Marked {
	list, last := documents.Earlier(entity)
	if len(list) == 0 && last == "" {
		return nil
	}
	return &Marked{ETag: etag, Marks: list, Mark: last}
}

func isRoot(mark string) bool {
	return strings.HasPrefix(mark, CreatedRoot) || strings.HasPrefix(mark, OverwrittenRoot)
}

func (d *Marked) carries(mark string) bool {
	if mark == "" {
		return false
	}
	if d.Mark == mark || slices.Contains(d.Marks, mark) {
		return true
	}
	root := d.root()
	return root != "" && root[1:] == mark
}

// root returns where the list of marks begins; "" for a list that was cut,
// and for a document that something else wrote.
func (d *Marked) root() string {
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
func (d *Marked) etagOf(mark string) string {
	newest := d.Mark
	if newest == "" && len(d.Marks) > 0 {
		newest = strings.TrimLeft(d.Marks[0], CreatedRoot+OverwrittenRoot)
	}
	if newest != mark {
		return overtaken
	}
	return d.ETag
}

// leadsTo reports whether a later state of the document came from this one by
// writes that all left their marks.
func (d *Marked) leadsTo(later *Marked) bool {
	if root := d.root(); root != "" && root == later.root() {
		return true
	}
	return slices.ContainsFunc(d.Marks, func(mark string) bool { return slices.Contains(later.Marks, mark) })
}

// MarksOver returns the list for a document that replaces this one. A list
// that is full loses its root and its oldest marks.
func (d *Marked) MarksOver(mark string, open *doubts) []string {
	if len(d.Marks) == 0 {
		return []string{OverwrittenRoot + mark}
	}
	out := append(make([]string, 0, len(d.Marks)+2), mark)
	if d.Mark != "" {
		out = append(out, d.Mark)
	}
	writer, _, _ := strings.Cut(mark, ":")
	for _, old := range d.Marks {
		if w, _, _ := strings.Cut(strings.TrimLeft(old, CreatedRoot+OverwrittenRoot), ":"); w != writer || isRoot(old) || open.has(old) {
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

func (d *doubts) add(ops []Operation) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.marks == nil {
		d.marks = map[string]int{}
	}
	for i := range ops {
		if ops[i].Mark != "" {
			d.marks[ops[i].Mark]++
		}
	}
}

// resolve forgets the marks of operations whose outcome was told.
func (d *doubts) resolve(ops []Operation) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range ops {
		delete(d.marks, ops[i].Mark)
	}
}

func (d *doubts) has(mark string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.marks[mark] > 0
}
