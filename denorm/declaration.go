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
	call string // "denorm.Count[Note, Comment]"
	site string // "app.go:31"
	a, b reflect.Type
	bind binder
}

// binder checks a declaration and adds what it does to a and b. The schema is
// made twice: for the plan, and for the database.
type binder = func(s *schema, d Declaration, a, b *entityType) error

// String names the declaration and where it was made.
func (d Declaration) String() string {
	if d.site == "" {
		return d.call
	}
	return fmt.Sprintf("%s (%s)", d.call, d.site)
}

func declare(name string, a, b reflect.Type, bind binder) Declaration {
	d := Declaration{a: a, b: b, bind: bind}
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
