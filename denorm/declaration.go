package denorm

import (
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
)

// Declaration is something that is kept of other documents beside the fields
// with a denorm tag. [CountOf] and its siblings make one; with fx, [Count] and
// its siblings.
type Declaration struct {
	kind    kind
	call    string // "denorm.Count[Note, Comment]"
	site    string // "app.go:31"
	a, b    reflect.Type
	fieldA  string
	fieldB  string
	through []string
	n       int
	gone    DeleteAction
}

type kind uint8

const (
	counts kind = iota + 1
	recents
	links
	goners
)

// String names the declaration and where it was made.
func (d Declaration) String() string {
	if d.site == "" {
		return d.call
	}
	return fmt.Sprintf("%s (%s)", d.call, d.site)
}

// DeleteAction says what becomes of the copies of a document that is deleted.
type DeleteAction uint8

const (
	// Keep leaves the copies, and the reference, as they are: they record what
	// was true last. It is the default.
	Keep DeleteAction = iota
	// Clear empties the reference and the synced copies beside it. Snapshots
	// stay.
	Clear
	// Restrict makes the delete fail with [ErrReferenced] while a document
	// refers to this one. A reference that is written in the same instant may
	// escape it; its copies are kept then. It is for aggregate roots: what a
	// delete of a parent takes with it is not asked.
	Restrict
)

// String returns the name.
func (g DeleteAction) String() string {
	switch g {
	case Keep:
		return "Keep"
	case Clear:
		return "Clear"
	case Restrict:
		return "Restrict"
	}
	return fmt.Sprintf("DeleteAction(%d)", uint8(g))
}

// CountOf keeps in a number field of P how many documents of C refer to it
// through refField, a tenantitem.Ref[P] or an array of them ("parentId" for a
// child of P). In one logical partition it changes with them, in one
// transaction; else the change feed brings it.
func CountOf[P, C any](field, refField string) Declaration {
	return declare[P, C]("Count", Declaration{kind: counts, fieldA: field, through: []string{refField}})
}

// RecentOf keeps in an array field of P the newest n documents of C that refer
// to it, newest first: by their ids, which sort by time unless the application
// makes its own. The array's elements are cards: structs whose JSON members
// are members of C, at most 100 of them. refField is the field of C that
// refers to P; it may be left out when there is only one. It changes when
// counts do; see [CountOf].
func RecentOf[P, C any](field string, n int, refField ...string) Declaration {
	return declare[P, C]("Recent", Declaration{kind: recents, fieldA: field, n: n, through: refField})
}

// LinkOf keeps both sides of a many-to-many in step: fieldA of A is an array
// of tenantitem.Ref[B] and fieldB of B one of tenantitem.Ref[A]. Either may be
// written, and the other changes when counts do; see [CountOf]. When both sides
// of one pair are changed at the same time, A's list is followed.
func LinkOf[A, B any](fieldA, fieldB string) Declaration {
	return declare[A, B]("Link", Declaration{kind: links, fieldA: fieldA, fieldB: fieldB})
}

// OnDeleteOf says what becomes of the copies that documents of T hold through
// refField when the document of S that it refers to is deleted.
func OnDeleteOf[T, S any](refField string, gone DeleteAction) Declaration {
	return declare[T, S]("OnDelete", Declaration{kind: goners, fieldA: refField, gone: gone})
}

func declare[A, B any](name string, d Declaration) Declaration {
	d.a, d.b = reflect.TypeFor[A](), reflect.TypeFor[B]()
	d.call = fmt.Sprintf("denorm.%s[%s, %s]", name, plainName(d.a), plainName(d.b))
	d.site = callSite()
	return d
}

// callSite is the line outside this package that a declaration was made in.
func callSite() string {
	var callers [8]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers[:])])
	for {
		frame, more := frames.Next()
		if frame.Function != "" && !strings.HasPrefix(frame.Function, "github.com/cosmosgrove/grove/denorm.") {
			return fmt.Sprintf("%s:%d", filepath.Base(frame.File), frame.Line)
		}
		if !more {
			return ""
		}
	}
}

func plainName(t reflect.Type) string {
	name, _, _ := strings.Cut(t.Name(), "[")
	return name
}
