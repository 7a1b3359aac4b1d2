package codec

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"pgregory.net/rapid"
)

// checkWritten compares what a plan writes with what the library does.
func checkWritten(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, v any) (planned bool) {
	t.Helper()
	want, err := jsonv2.Marshal(v, options)
	have, planned := write(v)
	switch {
	case !planned:
	case err != nil:
		t.Fatalf("%T: written as %s, but the library says %v", v, have, err)
	case string(have) != string(want):
		t.Fatalf("%T: written as\n%s, not\n%s", v, have, want)
	}
	return planned
}

func TestPlansWriteAsTheLibrary(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := reflect.New(drawStruct(t, 2))
		fill(t, value.Elem(), 2)
		checkWritten(t, value.Interface())
	})
}

type (
	writtenInner struct {
		B string `json:"b"`
		A string `json:"a,omitempty"`
	}
	writtenDeep struct {
		writtenInner
		Z int `json:"z"`
	}
	writtenOuter struct {
		First int `json:"first"`
		writtenDeep
		B    int  `json:"b"` // hides the inner one
		Last bool `json:"last"`
	}
	writtenByPointer struct {
		*writtenInner
		N int `json:"n"`
	}
	writtenRing struct {
		Next *writtenRing `json:"next"`
	}
	writtenSelf struct {
		Own ownText `json:"own"`
		N   *int    `json:"n"`
	}
	ownText string
)

// MarshalJSON is called for values that have an address alone, as in
// encoding/json.
func (o *ownText) MarshalJSON() ([]byte, error) { return json.Marshal("own " + string(*o)) }

func TestWhatPlansWrite(t *testing.T) {
	t.Parallel()
	ring := new(writtenRing)
	ring.Next = ring
	deep := new(writtenRing)
	for at, n := deep, 0; n < 50; n++ {
		at.Next = new(writtenRing)
		at = at.Next
	}
	at := time.Date(2026, 2, 3, 4, 5, 6, 700, time.FixedZone("", 3600))
	for name, c := range map[string]struct {
		value   any
		planned bool
	}{
		"embedded":             {&writtenOuter{writtenDeep: writtenDeep{writtenInner: writtenInner{A: "a", B: "b"}}}, true},
		"embedded, all empty":  {&writtenOuter{}, true},
		"embedded by pointer":  {&writtenByPointer{N: 1}, false},
		"a ring":               {ring, false},
		"deep":                 {deep, true},
		"own method":           {&writtenSelf{Own: "x"}, true},
		"own method in a list": {&struct{ L []ownText }{[]ownText{"a", "b"}}, true},
		"own method in a map":  {&struct{ M map[string]ownText }{map[string]ownText{"k": "a"}}, true},
		"no struct":            {new(int), false},
		"nil":                  {(*writtenInner)(nil), false},
		"texts":                {&struct{ A, B, C, D string }{"plain", "é😀\u2028\u007f", "\"\\/\b\f\n\r\t\x01<>&", ""}, true},
		"no text":              {&struct{ A string }{"\xff"}, false},
		"no text as a name":    {&struct{ M map[string]string }{map[string]string{"\xff": "a"}}, false},
		"names":                {&struct{ M map[string]string }{map[string]string{"b": "1", "a": "2", "\n": "3", "é": "4", "😀": "5", "\uffff": "6"}}, true},
		"times":                {&struct{ A, B any }{at, &at}, true},
		"a time by pointer": {&struct {
			A, B *time.Time
			C    time.Time
		}{A: &at}, true},
		"a year too far":   {&struct{ A time.Time }{at.AddDate(9000, 0, 0)}, false},
		"floats":           {&struct{ A, B, C, D float64 }{1e-6, 1e20, 0.1, -123456.789}, true},
		"an exponent":      {&struct{ A float64 }{1e21}, false},
		"a small exponent": {&struct{ A float64 }{1e-7}, false},
		"minus zero":       {&struct{ A float64 }{math.Copysign(0, -1)}, false},
		"no number":        {&struct{ A float64 }{math.NaN()}, false},
		"zero times left out": {&struct {
			A time.Time `json:"a,omitzero"`
		}{}, false},
		"left out": {&struct {
			A []int     `json:"a,omitempty"`
			B *int      `json:"b,omitempty"`
			C struct{}  `json:"c,omitempty"`
			D [0]int    `json:"d,omitempty"`
			E any       `json:"e,omitempty"`
			F float64   `json:"f,omitempty"`
			G time.Time `json:"g,omitempty"`
			H [2]int    `json:"h,omitzero"`
		}{}, true},
		"a channel": {&struct{ A chan int }{make(chan int)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if planned := checkWritten(t, c.value); planned != c.planned {
				t.Errorf("written by a plan: %v", planned)
			}
		})
	}
}

// A value that is written is not one that the next one overwrites.
func TestWrittenValuesAreTheirOwn(t *testing.T) {
	t.Parallel()
	first, _ := write(&writtenInner{B: strings.Repeat("a", 100)})
	text := string(first)
	second, _ := write(&writtenInner{B: strings.Repeat("b", 100)})
	if string(first) != text || cap(first)-len(first) < Spare/2 {
		t.Errorf("%s, then %s; room for %d", first, second, cap(first)-len(first))
	}
}
