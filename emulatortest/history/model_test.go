package history_test

import (
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/cosmosgrove/grove/emulatortest/history"
)

type (
	call   = history.Call
	answer = history.Answer
)

// step is a call from one moment to another.
type step struct {
	client       int
	call         call
	answer       answer
	began, ended int64
}

func TestModelsKnowWhatCanBeExplained(t *testing.T) {
	t.Parallel()
	done, unknown := answer{}, answer{Outcome: history.Unknown}
	refused := func(why string) answer { return answer{Outcome: history.Refused, Text: why} }
	found := func(n int64) answer { return answer{Number: n} }
	cases := []struct {
		name  string
		model porcupine.Model
		steps []step
		legal bool
	}{
		{"an increment that was read", history.Document(), []step{
			{0, call{Verb: "create"}, done, 1, 2}, {0, call{Verb: "increment", Number: 1}, done, 3, 4}, {1, call{Verb: "get"}, found(1), 5, 6},
		}, true},
		{"counted twice", history.Document(), []step{
			{0, call{Verb: "create"}, done, 1, 2}, {0, call{Verb: "increment", Number: 1}, done, 3, 4}, {1, call{Verb: "get"}, found(2), 5, 6},
		}, false},
		{"an acknowledged increment that is gone", history.Document(), []step{
			{0, call{Verb: "create"}, done, 1, 2}, {0, call{Verb: "increment", Number: 1}, done, 3, 4}, {1, call{Verb: "get"}, found(0), 5, 6},
		}, false},
		{"a lost answer that happened later", history.Document(), []step{
			{0, call{Verb: "create"}, done, 1, 2}, {0, call{Verb: "increment", Number: 1}, unknown, 3, 4},
			{1, call{Verb: "get"}, found(0), 5, 6}, {1, call{Verb: "get"}, found(1), 7, 8},
		}, true},
		{"a lost answer that went back", history.Document(), []step{
			{0, call{Verb: "create"}, done, 1, 2}, {0, call{Verb: "increment", Number: 1}, unknown, 3, 4},
			{1, call{Verb: "get"}, found(1), 5, 6}, {1, call{Verb: "get"}, found(0), 7, 8},
		}, false},
		{"refused, and yet there", history.Document(), []step{
			{0, call{Verb: "create"}, answer{ETag: "1"}, 1, 2}, {0, call{Verb: "replace", Number: 7, ETag: "1"}, refused(history.Precondition), 3, 4},
			{1, call{Verb: "get"}, found(7), 5, 6},
		}, false},
		{"two replaces of one etag", history.Document(), []step{
			{0, call{Verb: "create"}, answer{ETag: "1"}, 1, 2}, {0, call{Verb: "replace", ETag: "1"}, answer{ETag: "2"}, 3, 6},
			{1, call{Verb: "replace", ETag: "1"}, answer{ETag: "3"}, 4, 5},
		}, false},
		{"a replace at the same time as a delete", history.Document(), []step{
			{0, call{Verb: "create"}, answer{ETag: "1"}, 1, 2}, {0, call{Verb: "replace", ETag: "1"}, refused(history.NotFound), 3, 6},
			{1, call{Verb: "delete"}, done, 4, 5},
		}, true},
		{"what was deleted is created twice", history.Document(), []step{
			{0, call{Verb: "create"}, done, 1, 2}, {1, call{Verb: "delete"}, done, 3, 4}, {0, call{Verb: "create"}, done, 5, 6},
			{1, call{Verb: "create"}, refused(history.Conflict), 5, 6},
		}, true},
		{"a set that a query shows in between", history.Set(), []step{
			{0, call{Verb: "add", Key: "a"}, done, 1, 2}, {1, call{Verb: "add", Key: "b"}, done, 3, 6}, {2, call{Verb: "query"}, answer{Text: "a"}, 4, 5},
		}, true},
		{"a query that misses what was there", history.Set(), []step{
			{0, call{Verb: "add", Key: "a"}, done, 1, 2}, {2, call{Verb: "query"}, answer{Text: ""}, 4, 5},
		}, false},
		{"a removal that is undone", history.Set(), []step{
			{0, call{Verb: "add", Key: "a"}, done, 1, 2}, {1, call{Verb: "remove", Key: "a"}, done, 3, 4}, {2, call{Verb: "query"}, answer{Text: "a"}, 5, 6},
		}, false},
		{"two removals that both succeed", history.Set(), []step{
			{0, call{Verb: "add", Key: "a"}, done, 1, 2}, {1, call{Verb: "remove", Key: "a"}, done, 3, 4}, {2, call{Verb: "remove", Key: "a"}, done, 5, 6},
		}, true},
		{"a tree that comes back whole", history.Tree(), []step{
			{0, call{Verb: "create child", Key: "a"}, done, 1, 2}, {0, call{Verb: "delete"}, done, 3, 4},
			{1, call{Verb: "create child", Key: "b"}, refused(history.NotFound), 5, 6}, {0, call{Verb: "restore"}, done, 7, 8},
			{1, call{Verb: "children"}, answer{Text: "a"}, 9, 10},
		}, true},
		{"a tree that lost a child", history.Tree(), []step{
			{0, call{Verb: "create child", Key: "a"}, done, 1, 2}, {0, call{Verb: "delete"}, done, 3, 4}, {0, call{Verb: "restore"}, done, 7, 8},
			{1, call{Verb: "children"}, answer{}, 9, 10},
		}, false},
		{"a copy that follows", history.Copies(), []step{
			{0, call{Verb: "write", Text: "x"}, done, 1, 2}, {0, call{Verb: "write", Text: "y"}, done, 3, 4},
			{1, call{Verb: "read"}, answer{Text: "x"}, 5, 6}, {1, call{Verb: "read caught up"}, answer{Text: "y"}, 7, 8},
		}, true},
		{"a copy that stays behind", history.Copies(), []step{
			{0, call{Verb: "write", Text: "x"}, done, 1, 2}, {0, call{Verb: "write", Text: "y"}, done, 3, 4},
			{1, call{Verb: "read caught up"}, answer{Text: "x"}, 7, 8},
		}, false},
		{"a copy of what never was", history.Copies(), []step{
			{0, call{Verb: "write", Text: "x"}, done, 1, 2}, {1, call{Verb: "read"}, answer{Text: "z"}, 5, 6},
		}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var r history.Recorder
			for _, s := range c.steps {
				r.Record(s.client, s.call, s.answer, s.began, s.ended)
			}
			w := &witness{TB: t}
			r.Check(w, c.model)
			if w.failed == c.legal {
				t.Errorf("explained: %v", !w.failed)
			}
		})
	}
}

// witness is a testing.TB that only remembers that it failed.
type witness struct {
	testing.TB
	failed bool
}

func (w *witness) Helper()               {}
func (w *witness) Errorf(string, ...any) { w.failed = true }
