package merge_test

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	jsonv2 "github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/cosmosgrove/grove/internal/merge"
)

func value(t interface{ Fatalf(string, ...any) }, text string) merge.Value {
	var v merge.Value
	if text == "" {
		return v
	}
	if err := jsonv2.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// ascending is the order of types and, within them, of values. The empty text
// is undefined.
var ascending = []string{
	"", "null", "false", "true", "-1e300", "-1", "-0.5", "0", "0.5", "2", "10", "1e300",
	`""`, `"A"`, `"B"`, `"a"`, `"aa"`, `"b"`, `"é"`, `"\ud83d\ude00"`, `"\ue000"`, `"\uffff"`,
	"[]", "[1]", "[1,1]", `["a"]`, "{}", `{"a":1}`, `{"a":1,"b":0}`, `{"a":2}`, `{"b":1}`,
}

func TestCompare_order(t *testing.T) {
	t.Parallel()
	for i, a := range ascending {
		for j, b := range ascending {
			if got := merge.Compare(value(t, a), value(t, b)); cmp.Compare(got, 0) != cmp.Compare(i, j) {
				t.Errorf("Compare(%s, %s) = %d, their places are %d and %d", a, b, got, i, j)
			}
		}
	}
}

func TestCompare_equal(t *testing.T) {
	t.Parallel()
	for _, same := range [][2]string{
		{"0", "-0"}, {"1", "1.0"}, {"100", "1e2"}, {`"a"`, `"\u0061"`}, {`{"a":1,"b":2}`, `{"b":2,"a":1}`}, {"[1.0]", "[1]"},
	} {
		a, b := value(t, same[0]), value(t, same[1])
		if merge.Compare(a, b) != 0 || string(a.AppendKey(nil)) != string(b.AppendKey(nil)) {
			t.Errorf("%s and %s differ: keys %s and %s", same[0], same[1], a.AppendKey(nil), b.AppendKey(nil))
		}
	}
}

// TestCompare_utf16 holds texts against the order of their UTF-16 code units.
func TestCompare_utf16(t *testing.T) {
	t.Parallel()
	runes := rapid.SampledFrom([]rune{'a', 'é', 'あ', '\ud7ff', '\ue000', '\uffff', '\U00010000', '\U0001f600', '\U0010ffff'})
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.StringOf(runes).Draw(t, "a"), rapid.StringOf(runes).Draw(t, "b")
		quoted := func(s string) merge.Value {
			text, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			return value(t, string(text))
		}
		want := slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		if got := merge.Compare(quoted(a), quoted(b)); got != want {
			t.Fatalf("Compare(%+q, %+q) = %d, want %d", a, b, got, want)
		}
	})
}

func TestValue_keepsIntegers(t *testing.T) {
	t.Parallel()
	if got := string(value(t, "9007199254740993").AppendJSON(nil)); got != "9007199254740993" {
		t.Errorf("got %s", got)
	}
	for want, f := range map[string]float64{"1000000": 1e6, "-7": -7, "0.25": 0.25, "1e+300": 1e300, "9007199254740992": 1 << 53} {
		if got := string(merge.FromNumber(f).AppendJSON(nil)); got != want {
			t.Errorf("%v is written as %s, want %s", f, got, want)
		}
	}
}

// TestSortKey_undefined makes sure that a missing sort value stays in its place.
func TestSortKey_undefined(t *testing.T) {
	t.Parallel()
	var p merge.SortKey
	const text = `{"r":"x","o":[{},{"v":null},{"v":3}]}`
	if err := jsonv2.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	kinds := []merge.Kind{p.Sort[0].Value.Kind(), p.Sort[1].Value.Kind(), p.Sort[2].Value.Kind()}
	if !slices.Equal(kinds, []merge.Kind{merge.Undefined, merge.Null, merge.Number}) {
		t.Errorf("got kinds %v", kinds)
	}
	again, err := jsonv2.Marshal(p)
	if err != nil || string(again) != text {
		t.Errorf("written again it is %s, %v", again, err)
	}
}

func TestOrder_ties(t *testing.T) {
	t.Parallel()
	// The last bytes of a resource id count in little endian: AQAB is more than AgAA.
	const first, second = "AAAAAIAAAAACAAAAAAAAAA==", "AAAAAIAAAAABAQAAAAAAAA=="
	a, b := merge.SortKey{RID: first}, merge.SortKey{RID: second}
	if merge.Order(nil).Compare(a, b) >= 0 || (merge.Order{false}).Compare(a, b) >= 0 {
		t.Error("the older document does not come first")
	}
	if (merge.Order{true}).Compare(a, b) <= 0 {
		t.Error("the older document does not come last when the first value descends")
	}
	if (merge.Order{false, true}).Compare(a, a) != 0 {
		t.Error("a key differs from itself")
	}
}

// FuzzValue: what can be read is written as JSON of the same meaning, and keys
// agree with the comparison.
func FuzzValue(f *testing.F) {
	for _, text := range ascending[1:] {
		f.Add(text, `{"a":[1,{"b":"\u0000"}]}`)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		var va, vb merge.Value
		if jsonv2.Unmarshal([]byte(a), &va) != nil || jsonv2.Unmarshal([]byte(b), &vb) != nil {
			t.Skip("not JSON")
		}
		written := string(va.AppendJSON(nil))
		again := value(t, written)
		if merge.Compare(va, again) != 0 {
			t.Fatalf("%s is written as %s", a, written)
		}
		if (merge.Compare(va, vb) == 0) != (string(va.AppendKey(nil)) == string(vb.AppendKey(nil))) {
			t.Fatalf("the keys of %s and %s don't agree with their comparison", a, b)
		}
		if merge.Compare(va, vb) != -merge.Compare(vb, va) {
			t.Fatalf("%s and %s compare differently the other way round", a, b)
		}
		var plain, plainAgain any
		if json.Unmarshal([]byte(a), &plain) == nil && json.Unmarshal([]byte(written), &plainAgain) == nil &&
			!strings.Contains(a, "\\u") && !reflect.DeepEqual(plain, plainAgain) {
			t.Fatalf("%s is written as %s", a, written)
		}
	})
}
