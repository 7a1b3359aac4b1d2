package denorm

import (
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

func TestRewrite(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ have, pointer, value, want string }{
		"a member":                    {`{"a":1,"b":2}`, "/a", `"x"`, `{"a":"x","b":2}`},
		"a missing member":            {`{"a":1}`, "/b", `2`, `{"a":1,"b":2}`},
		"a member of an empty object": {`{}`, "/b", `2`, `{"b":2}`},
		"an element's member":         {`[{"a":1},{"a":2}]`, "/1/a", `3`, `[{"a":1},{"a":3}]`},
		"deep, with escapes":          {`{"a/b":[[{"~":0}]]}`, "/a~1b/0/0/~0", `1`, `{"a/b":[[{"~":1}]]}`},
		"the text of numbers":         {`{"a":1.50,"n":12345678901234567890.10,"u":"\u00e9"}`, "/a", `2`, `{"a":2,"n":12345678901234567890.10,"u":"\u00e9"}`},
	} {
		got, err := setMembers(json.RawMessage(tt.have), []edit{{splitPointer(tt.pointer), json.RawMessage(tt.value)}})
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %s, %v; want %s", name, got, err, tt.want)
		}
	}
	for name, pointer := range map[string]string{"a way through nothing": "/x/y", "a way through a number": "/a/y"} {
		if got, err := setMembers(json.RawMessage(`{"a":1}`), []edit{{splitPointer(pointer), json.RawMessage(`1`)}}); err == nil {
			t.Errorf("%s: %s", name, got)
		}
	}
	if _, err := setMembers(json.RawMessage(`{"a"`), []edit{{[]string{"a"}, json.RawMessage(`1`)}}); err == nil {
		t.Error("broken JSON was accepted")
	}
}

func TestRewriteSetsWhatWasAskedAndNothingElse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		names := rapid.SliceOfDistinct(rapid.String(), rapid.ID).Draw(r, "names")
		have, want := map[string]any{}, map[string]any{}
		var edits []edit
		for _, name := range names {
			inner := map[string]any{"keep": rapid.Float64().Draw(r, "number"), "set": "old"}
			have[name] = []any{inner}
			changed := map[string]any{"keep": inner["keep"], "set": "old"}
			if rapid.Bool().Draw(r, "set") {
				changed["set"] = "new"
				pointer := "/" + escapePointer(name) + "/0/set"
				edits = append(edits, edit{splitPointer(pointer), json.RawMessage(`"new"`)})
			}
			want[name] = []any{changed}
		}
		raw, err := json.Marshal(have)
		if err != nil {
			r.Fatal(err)
		}
		got, err := setMembers(raw, edits)
		if err != nil {
			r.Fatal(err)
		}
		var after, expected any
		text, err := json.Marshal(want)
		if err != nil || json.Unmarshal(got, &after) != nil || json.Unmarshal(text, &expected) != nil || !reflect.DeepEqual(after, expected) {
			r.Fatalf("%s became %s", raw, got)
		}
	})
}

func FuzzRewrite(f *testing.F) {
	for _, seed := range []string{`{"a":[{"b":1}]}`, `[]`, `{}`, `{"a":`, `1`, `{"a":1,"a":2}`, `{"a":[1,[2],{"b":null}]} x`} {
		f.Add(seed, "/a/0/b")
	}
	f.Fuzz(func(t *testing.T, raw, pointer string) {
		if pointer == "" || pointer[0] != '/' {
			return
		}
		got, err := setMembers(json.RawMessage(raw), []edit{{splitPointer(pointer), json.RawMessage(`"new"`)}})
		if err == nil && json.Valid([]byte(raw)) && !json.Valid(got) {
			t.Fatalf("%q became %q", raw, got)
		}
	})
}
