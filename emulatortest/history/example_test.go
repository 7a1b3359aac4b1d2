package history_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/history"
)

// printing is a test whose failures are printed, but for the path of the page that shows them.
type printing struct{ testing.TB }

func (printing) Helper()             {}
func (printing) ArtifactDir() string { return "/no/such/folder" }
func (printing) Errorf(f string, args ...any) {
	said, _, _ := strings.Cut(fmt.Sprintf(f, args...), ";")
	fmt.Println(said)
}

// One client was told that its increment is done, and another one reads what was there before.
func ExampleRecorder_Check() {
	var r history.Recorder
	r.Do(0, history.Call{Verb: "create", Key: "a"}, func() history.Answer { return history.Answer{} })
	r.Do(0, history.Call{Verb: "increment", Key: "a", Number: 1}, func() history.Answer { return history.Answer{} })
	r.Do(1, history.Call{Verb: "get", Key: "a"}, func() history.Answer { return history.Answer{Number: 0} })
	r.Check(printing{}, history.Document())
	// Output:
	// history: no order of the 3 calls explains their answers
}

// An increment whose answer was lost may have happened at any time since, or never.
func ExampleRecorder_Do() {
	var r history.Recorder
	r.Do(0, history.Call{Verb: "create", Key: "a"}, func() history.Answer { return history.Answer{} })
	r.Do(0, history.Call{Verb: "increment", Key: "a", Number: 1}, func() history.Answer { return history.Answer{Outcome: history.Unknown} })
	r.Do(1, history.Call{Verb: "get", Key: "a"}, func() history.Answer { return history.Answer{Number: 0} })
	r.Do(1, history.Call{Verb: "get", Key: "a"}, func() history.Answer { return history.Answer{Number: 1} })
	r.Check(printing{}, history.Document()) // nothing to say
	fmt.Println(len(r.Steps()), "calls")
	// Output:
	// 4 calls
}
