package repository_test

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// exampleTB lets an Example use what tests use: it fails by panicking, and
// what was made is closed by the returned function.
type exampleTB struct {
	testing.TB
	cleanups []func()
}

func exampleTest() (testing.TB, func()) {
	e := &exampleTB{}
	return e, func() {
		for i := len(e.cleanups) - 1; i >= 0; i-- {
			e.cleanups[i]()
		}
	}
}

func (e *exampleTB) Context() context.Context  { return context.Background() }
func (e *exampleTB) Helper()                   {}
func (e *exampleTB) Cleanup(f func())          { e.cleanups = append(e.cleanups, f) }
func (e *exampleTB) Fatal(args ...any)         { panic(fmt.Sprint(args...)) }
func (e *exampleTB) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }
func (e *exampleTB) Errorf(f string, a ...any) { fmt.Fprintf(os.Stderr, f+"\n", a...) }
func (e *exampleTB) Skipf(f string, a ...any)  { panic(fmt.Sprintf(f, a...)) }
