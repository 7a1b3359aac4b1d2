package emulatortest

import (
	"reflect"
	"strings"
	"testing"
)

func planExplorer() *explorer {
	return &explorer{kinds: FaultKinds(), scenario: Scenario{Actors: []Actor{{Name: "first"}, {Name: "second"}, {Name: "feed", Background: true}}}}
}

func TestPlansAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	x := planExplorer()
	for _, text := range []string{
		"start=first",
		"start=second,inner=7,second:3>first,first:1!cut-after",
		"start=first,priorities=feed>first>second,lowered=2,lowered=9,inner=1,second:2!killed",
	} {
		p, err := x.decode(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := x.encode(p); got != text {
			t.Errorf("%s became %s", text, got)
		}
	}
	for text, says := range map[string]string{
		"start=third":                          `no actor is called "third"`,
		"start=first,priorities=first>second":  "2 of 3 actors",
		"start=first,priorities=first>first>x": "two priorities",
		"start=first,first:0>second":           "actor:n",
		"start=first,first:1!flood":            "no kind of fault",
		"start=first,lowered=soon":             "lowered=soon",
	} {
		if _, err := x.decode(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// The order that priorities made is the same order as switches.
func TestPrioritiesBecomeSwitches(t *testing.T) {
	t.Parallel()
	x := planExplorer()
	var r result
	for _, actor := range []string{"second", "first", "second", "second", "first", "first"} {
		r.rows = append(r.rows, &row{request: Request{Actor: actor}})
	}
	got := x.asSwitches(plan{priorities: []int{0, 1, 2}, lowered: []int{1}, inner: 3}, r)
	want := plan{start: 1, inner: 3, switches: []switching{{actor: 1, n: 2, to: 0}, {actor: 0, n: 2, to: 1}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
