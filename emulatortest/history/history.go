// Package history records what concurrent clients did to a database and what they were told, and checks whether that can be
// explained: by some order of the calls, each of which happened at one moment between its call and its answer. A call whose answer
// was lost may have happened at any time from its call on, or never.
//
// A [Recorder] takes each [Call] and its [Answer], whose [Outcome] says what the client knows of it. The checking is porcupine's
// (github.com/anishathalye/porcupine); the models here say what a document with an etag, a set under a query, a tree and a copied
// value may answer. A user's own model is a porcupine.Model whose inputs are Calls and whose outputs are Answers.
package history

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// Outcome is what a client knows of its call.
type Outcome uint8

const (
	// Done says that the call happened.
	Done Outcome = iota
	// Refused says that nothing happened; the answer's Text says why.
	Refused
	// Unknown says that the call may have happened, may happen later, or never will.
	Unknown
)

// Call is what a client asks for. What the fields mean is the model's.
type Call struct {
	// Verb names the call, such as "create".
	Verb string
	// Key is what it is about.
	Key string
	// Text, Number and ETag are what it brings.
	Text   string
	Number int64
	ETag   string
}

// Answer is what a client was told.
type Answer struct {
	Outcome Outcome
	// Text, Number and ETag are what came back; of a refusal, Text is the reason.
	Text   string
	Number int64
	ETag   string
}

// Recorder records the calls of concurrent clients. Its methods may be called at the same time; the zero value is ready.
type Recorder struct {
	mu    sync.Mutex
	clock int64
	steps []porcupine.Operation
}

// Do records one call of a client, numbered from 0, that f makes. A client makes one call at a time.
func (r *Recorder) Do(client int, call Call, f func() Answer) {
	began := r.tick()
	answer := f()
	r.Record(client, call, answer, began, r.tick())
}

// Record adds a call whose times, of any clock, the caller has taken.
func (r *Recorder) Record(client int, call Call, answer Answer, began, ended int64) {
	if answer.Outcome == Unknown {
		ended = math.MaxInt64
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.steps = append(r.steps, porcupine.Operation{ClientId: client, Input: call, Output: answer, Call: began, Return: ended})
}

func (r *Recorder) tick() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clock++
	return r.clock
}

// Steps are the calls so far.
func (r *Recorder) Steps() []porcupine.Operation {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.steps)
}

// patience is how long a check may take, by the wall clock.
const patience = time.Minute

// Check fails the test when no order of the calls explains the answers. A page that shows the history, to be opened with a
// browser, is then left in the test's artifact folder, or in its temporary one.
func (r *Recorder) Check(t testing.TB, model porcupine.Model) {
	t.Helper()
	verdict, info := porcupine.CheckOperationsVerbose(model, r.Steps(), patience)
	switch verdict {
	case porcupine.Ok:
	case porcupine.Unknown:
		t.Errorf("history: %d calls could not be checked in %v: record fewer at a time", len(r.Steps()), patience)
	default:
		page := filepath.Join(t.ArtifactDir(), "history.html")
		if err := porcupine.VisualizePath(model, info, page); err != nil {
			page = fmt.Sprintf("(no page: %v)", err)
		}
		t.Errorf("history: no order of the %d calls explains their answers; see %s\n%s", len(r.Steps()), page, unexplained(r.Steps(), info))
	}
}

// unexplained lists the calls that are in none of the longest orders that could be found, and what came right before.
func unexplained(steps []porcupine.Operation, info porcupine.LinearizationInfo) string {
	var b strings.Builder
	for _, group := range info.PartialLinearizationsOperations() {
		var longest []porcupine.Operation
		for _, order := range group {
			if len(order) > len(longest) {
				longest = order
			}
		}
		known := map[porcupine.Operation]bool{}
		for _, s := range longest {
			known[s] = true
		}
		var missing []string
		for _, s := range steps {
			if len(longest) > 0 && s.Input.(Call).Key == longest[0].Input.(Call).Key && !known[s] && s.Return != math.MaxInt64 { //nolint:forcetypeassert // the recorder's own
				missing = append(missing, describe(s))
			}
		}
		if len(missing) == 0 {
			continue
		}
		b.WriteString("could be ordered, at the end:\n")
		for _, s := range longest[max(0, len(longest)-6):] {
			b.WriteString("  " + describe(s))
		}
		b.WriteString("and then not, first:\n")
		for _, text := range missing[:min(4, len(missing))] {
			b.WriteString("  " + text)
		}
	}
	return b.String()
}

func describe(s porcupine.Operation) string {
	return fmt.Sprintf("client %d from %d to %d: %+v: %+v\n", s.ClientId, s.Call, s.Return, s.Input, s.Output)
}
