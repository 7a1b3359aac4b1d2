package value_test

import (
	"encoding/json"
	"errors"
	"hash/maphash"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

func mustParse(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatalf("Parse(%s): %v", text, err)
	}
	return v
}

func TestParsePrints(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, want string }{
		{` null `, `null`},
		{`true`, `true`},
		{`-0`, `0`},
		{`1.0`, `1`},
		{`1E2`, `100`},
		{`0.1`, `0.1`},
		{`1e-7`, `1e-7`},
		{`1e-10`, `1e-10`},
		{`1e21`, `1e+21`},
		{`123456789012345678`, `1.2345678901234568e+17`},
		{`-1.79769e+308`, `-1.79769e+308`},
		{`9007199254740993`, `9.007199254740992e+15`},
		{`"a\u00e9\ud83d\ude00\/\n\"\\\b\f\r\t\u0001"`, "\"aé😀/\\n\\\"\\\\\\b\\f\\r\\t\\u0001\""},
		{`"\ud800"`, "\"\uFFFD\""},
		{`"\ud800\u0041"`, "\"\uFFFDA\""},
		{`[]`, `[]`},
		{`{}`, `{}`},
		{`[ 1 , [ ] , { } ]`, `[1,[],{}]`},
		{`{"b":1,"a":{"c":[true,false]}}`, `{"b":1,"a":{"c":[true,false]}}`},
		{`{"a":1,"b":2,"a":3}`, `{"a":3,"b":2}`},
		{`{"":1}`, `{"":1}`},
		{strings.Repeat("[", 128) + strings.Repeat("]", 128), strings.Repeat("[", 128) + strings.Repeat("]", 128)},
	} {
		if got := mustParse(t, tt.in).String(); got != tt.want {
			t.Errorf("Parse(%s) prints %s, want %s", tt.in, got, tt.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in     string
		offset int
	}{
		{``, 0}, {` `, 1}, {`nul`, 0}, {`tru`, 0}, {`1 2`, 2}, {`01`, 1}, {`-`, 1}, {`1.`, 2}, {`1e`, 2}, {`1e+`, 3}, {`+1`, 0}, {`.5`, 0},
		{`1e400`, 0}, {`NaN`, 0}, {`"`, 1}, {`"\`, 2}, {`"\x"`, 2}, {`"\u12"`, 2}, {`"\u12G4"`, 2}, {"\"\n\"", 1}, {"\"\\n\n\"", 3},
		{`'a'`, 0}, {`[1,]`, 3}, {`[1 2]`, 3}, {`[`, 1}, {`[1`, 2}, {`{`, 1}, {`{"a"}`, 4}, {`{"a":}`, 5}, {`{"a":1,}`, 7}, {`{a:1}`, 1},
		{`{"a":1 "b":2}`, 7}, {"\xEF\xBB\xBF1", 0}, {"\"\xff\"", 1}, {"1//", 1},
		{strings.Repeat("[", 129) + strings.Repeat("]", 129), 128},
		{strings.Repeat(`{"a":`, 129) + "1" + strings.Repeat("}", 129), 640},
	} {
		_, err := value.Parse([]byte(tt.in))
		var syntax *value.SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("Parse(%.20q) gives %v, want a SyntaxError", tt.in, err)
			continue
		}
		if syntax.Offset != tt.offset {
			t.Errorf("Parse(%.20q) gives offset %d (%v), want %d", tt.in, syntax.Offset, err, tt.offset)
		}
	}
}

func TestManyMembersWithOneName(t *testing.T) {
	t.Parallel()
	var members []value.Member
	for i := range 100 {
		members = append(members, value.Member{Name: string(rune('a' + i%20)), Value: value.FromNumber(float64(i))})
	}
	v := value.FromObject(members)
	got, _ := v.Members()
	if len(got) != 20 {
		t.Fatalf("%d members, want 20", len(got))
	}
	if n, _ := v.Get("c").Number(); n != 82 {
		t.Errorf("the last value of c is 82, got %v", n)
	}
	if got[2].Name != "c" {
		t.Errorf("c stands third, got %q", got[2].Name)
	}
}

func TestUndefinedNeverEnters(t *testing.T) {
	t.Parallel()
	one := value.FromNumber(1)
	array := value.FromArray([]value.Value{{}, one, {}, one})
	object := value.FromObject([]value.Member{{Name: "a"}, {Name: "b", Value: one}, {Name: "c"}})
	if got := array.String() + object.String(); got != `[1,1]{"b":1}` {
		t.Errorf("got %s", got)
	}
	if got := value.FromArray([]value.Value{{}}).String(); got != `[]` {
		t.Errorf("got %s", got)
	}
	if (value.Value{}).String() != "undefined" || len((value.Value{}).AppendJSON(nil)) != 0 {
		t.Error("undefined prints as nothing in JSON and as the word elsewhere")
	}
}

func TestAccess(t *testing.T) {
	t.Parallel()
	v := mustParse(t, `{"a":{"b":[10,{"c":"x"}]},"n":null,"t":true}`)
	for _, tt := range []struct {
		name string
		got  value.Value
		want string
	}{
		{"at", v.At("a", "b"), `[10,{"c":"x"}]`},
		{"at nothing", v.At(), v.String()},
		{"index", v.At("a", "b").Index(1).Get("c"), `"x"`},
		{"index past the end", v.At("a", "b").Index(2), "undefined"},
		{"negative index", v.At("a", "b").Index(-1), "undefined"},
		{"index of an object", v.Index(0), "undefined"},
		{"member of an array", v.At("a", "b", "c"), "undefined"},
		{"missing", v.Get("zz"), "undefined"},
		{"null", v.Get("n"), "null"},
		{"member of null", v.At("n", "x"), "undefined"},
	} {
		if got := tt.got.String(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	if b, ok := v.Get("t").Bool(); !b || !ok {
		t.Error("t is true")
	}
	if _, ok := v.Get("n").Bool(); ok {
		t.Error("null is no Boolean")
	}
	if _, ok := v.Number(); ok {
		t.Error("an object is no number")
	}
	if _, ok := v.Str(); ok {
		t.Error("an object is no string")
	}
	if _, ok := v.Array(); ok {
		t.Error("an object is no array")
	}
	if _, ok := v.Get("n").Members(); ok {
		t.Error("null has no members")
	}
}

func TestCompareAcrossKinds(t *testing.T) {
	t.Parallel()
	ascending := []value.Value{
		{}, value.NullValue(), value.FromBool(false), value.FromBool(true), value.FromNumber(math.NaN()), value.FromNumber(math.Inf(-1)),
		value.FromNumber(-1), value.FromNumber(0), value.FromNumber(2.5), value.FromString(""), value.FromString("A"), value.FromString("AB"),
		value.FromString("a"), value.FromString("é"), value.FromString("\uD7FF"), value.FromString("😀"), value.FromString("\uE000"),
		value.FromString("\uFFFD"), mustParse(t, `[]`), mustParse(t, `[1]`), mustParse(t, `[1,2]`), mustParse(t, `[2]`), mustParse(t, `{}`),
		mustParse(t, `{"a":1}`), mustParse(t, `{"b":0,"a":2}`),
	}
	for i := range ascending {
		for j := range ascending {
			got, want := value.Compare(ascending[i], ascending[j]), i-j
			if (got < 0) != (want < 0) || (got > 0) != (want > 0) {
				t.Errorf("Compare(%v, %v) = %d", ascending[i], ascending[j], got)
			}
		}
	}
}

func TestKindNames(t *testing.T) {
	t.Parallel()
	if got := value.Undefined.String() + value.Object.String() + value.Kind(99).String(); got != "undefinedobjectunknown" {
		t.Error(got)
	}
}

// anyValue draws values as deep as depth, undefined excluded.
func anyValue(depth int) *rapid.Generator[value.Value] {
	leaves := []*rapid.Generator[value.Value]{
		rapid.Just(value.NullValue()),
		rapid.Map(rapid.Bool(), value.FromBool),
		rapid.Map(rapid.Float64(), value.FromNumber),
		rapid.Map(rapid.IntRange(-3, 3), func(i int) value.Value { return value.FromNumber(float64(i)) }),
		rapid.Map(rapid.String(), func(s string) value.Value { return value.FromString(strings.ToValidUTF8(s, "?")) }),
	}
	if depth > 0 {
		member := rapid.Custom(func(t *rapid.T) value.Member {
			return value.Member{Name: rapid.SampledFrom([]string{"a", "b", "c", "é"}).Draw(t, "name"), Value: anyValue(depth-1).Draw(t, "value")}
		})
		leaves = append(leaves,
			rapid.Map(rapid.SliceOfN(anyValue(depth-1), 0, 4), value.FromArray),
			rapid.Map(rapid.SliceOfN(member, 0, 4), value.FromObject))
	}
	return rapid.OneOf(leaves...)
}

func TestPrintParseRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue(3).Draw(t, "v")
		text := v.AppendJSON(nil)
		if !json.Valid(text) {
			t.Fatalf("not JSON: %s", text)
		}
		back, err := value.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if !value.Equal(v, back) {
			t.Fatalf("%s came back as %s", v, back)
		}
	})
}

func TestEqualCompareAndHashAgree(t *testing.T) {
	t.Parallel()
	seed := maphash.MakeSeed()
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := anyValue(2).Draw(t, "a"), anyValue(2).Draw(t, "b"), anyValue(2).Draw(t, "c")
		if members, ok := a.Members(); ok && rapid.Bool().Draw(t, "shuffled twin") {
			twin := slices.Clone(members)
			slices.Reverse(twin)
			b = value.FromObject(twin)
		}
		equal := value.Equal(a, b)
		if equal != (value.Compare(a, b) == 0) {
			t.Fatalf("Equal and Compare disagree on %s and %s", a, b)
		}
		if equal && a.Hash(seed) != b.Hash(seed) {
			t.Fatalf("equal values %s and %s hash differently", a, b)
		}
		if value.Compare(a, b) != -value.Compare(b, a) {
			t.Fatalf("Compare is not antisymmetric on %s and %s", a, b)
		}
		if value.Compare(a, b) <= 0 && value.Compare(b, c) <= 0 && value.Compare(a, c) > 0 {
			t.Fatalf("Compare is not transitive on %s, %s, %s", a, b, c)
		}
	})
}

func TestEqualLargeObjects(t *testing.T) {
	t.Parallel()
	var members []value.Member
	for i := range 40 {
		members = append(members, value.Member{Name: strings.Repeat("k", i+1), Value: value.FromNumber(float64(i))})
	}
	a := value.FromObject(slices.Clone(members))
	slices.Reverse(members)
	b := value.FromObject(slices.Clone(members))
	members[3].Value = value.FromNumber(-1)
	if !value.Equal(a, b) || value.Equal(a, value.FromObject(members)) {
		t.Error("the order of members is irrelevant, their values are not")
	}
}

func TestStringsCompareByUTF16(t *testing.T) {
	t.Parallel()
	near := rapid.StringOf(rapid.SampledFrom([]rune{'a', 'é', 0xD7FF, 0xE000, 0xFFFD, 0x10000, 0x1F600, 0x1F601, 0x10FFFF}))
	rapid.Check(t, func(t *rapid.T) {
		a, b := near.Draw(t, "a"), near.Draw(t, "b")
		want := slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		if got := value.CompareStrings(a, b); got != want {
			t.Fatalf("CompareStrings(%q, %q) = %d, want %d", a, b, got, want)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.5e3,"x\u00e9",null,true]}`, `[[[]]]`, `"\ud83d\ude00"`, `-0.0`, `{"a":1,"a":2}`, "\"\xff\""} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := value.Parse(text)
		if err != nil {
			return
		}
		if !json.Valid(text) {
			t.Fatalf("accepted what is not JSON: %q", text)
		}
		back, err := value.Parse(v.AppendJSON(nil))
		if err != nil {
			t.Fatalf("its own print is refused: %v", err)
		}
		if !value.Equal(v, back) {
			t.Fatalf("%s came back as %s", v, back)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	text := []byte(`{"id":"0a1b2c3d","tenantId":"acme","entityType":"Note","title":"A note of ordinary length","tags":["one","two","three"],` +
		`"author":{"id":"p1","name":"Jordan Mitchell"},"count":42,"done":false,"score":3.25,"body":"` + strings.Repeat("lorem ipsum ", 60) + `"}`)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := value.Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}
