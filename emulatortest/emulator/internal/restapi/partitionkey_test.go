package restapi

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/cosmosgrove/grove/tenantitem/epk"
)

func TestParsePartitionKey(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, header string
		want         []epk.Component
	}{
		{"empty", `[]`, []epk.Component{}},
		{"string", `["a"]`, []epk.Component{epk.String("a")}},
		{"three levels", `["a", "b" ,3]`, []epk.Component{epk.String("a"), epk.String("b"), epk.Number(3)}},
		{"others", `[null,true,false,{},{ }]`, []epk.Component{epk.Null(), epk.Bool(true), epk.Bool(false), epk.Undefined(), epk.Undefined()}},
		{"number", `[-1.5e3]`, []epk.Component{epk.Number(-1500)}},
		{"negative zero", `[-0]`, []epk.Component{epk.Number(math.Copysign(0, -1))}},
		{"JSON escapes", `["\"\\\/\b\f\n\r\té"]`, []epk.Component{epk.String("\"\\/\b\f\n\r\té")}},
		{"surrogate pair", `["\ud83d\ude00"]`, []epk.Component{epk.String("😀")}},
		{"Go escapes", `["\a\v\x01\x7f\U0001f600"]`, []epk.Component{epk.String("\a\v\x01\x7f😀")}},
		{"plain text beyond ASCII", `["é鱀"]`, []epk.Component{epk.String("é鱀")}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := parsePartitionKey(c.header)
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("got %v (%v), want %v", got, err, c.want)
			}
		})
	}
}

func TestParsePartitionKeyRefuses(t *testing.T) {
	t.Parallel()
	for _, header := range []string{
		``, `"a"`, `{}`, `[`, `["a"`, `["a",]`, `[,]`, `["a"]x`, `[[]]`, `[{"a":1}]`, `[NaN]`, `[Infinity]`, `[0x1p3]`, `[1_0]`,
		`["\xff"]`, `["\ud800"]`, `["\ud800\u0041"]`, `["\udc00"]`, `["\U00110000"]`, `["\U0000d800"]`, `["\q"]`, `["\u12"]`, `["\`, `[1e999]`,
		"[\"\xff\"]", `[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]`,
	} {
		if got, err := parsePartitionKey(header); err == nil {
			t.Errorf("%q was read as %v", header, got)
		}
	}
}

// Both quotings that the SDKs use give back every string.
func TestParsePartitionKeyReadsEveryQuoting(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		quoted, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, header := range []string{`[` + strconv.QuoteToASCII(s) + `]`, `[` + string(quoted) + `]`} {
			got, err := parsePartitionKey(header)
			if err != nil || len(got) != 1 || got[0] != epk.String(s) {
				t.Fatalf("%s was read as %v (%v)", header, got, err)
			}
		}
	})
}

func FuzzPartitionKeyHeader(f *testing.F) {
	for _, seed := range []string{`["a"]`, `[null,true,{},-1.5]`, `["\x01\U0001f600\ud83d\ude00"]`, `[`, `["\`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		components, err := parsePartitionKey(header)
		if err != nil {
			return
		}
		for _, c := range components {
			if s, ok := c.AsString(); ok && !utf8.ValidString(s) {
				t.Errorf("%q gave a string of broken UTF-8", header)
			}
			if n, ok := c.AsNumber(); ok && (math.IsNaN(n) || math.IsInf(n, 0)) {
				t.Errorf("%q gave the number %v", header, n)
			}
		}
	})
}
