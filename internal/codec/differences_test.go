package codec

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

type stamped struct {
	time.Time
}

// Each case is a row of docs/values.md.
func TestDifferences(t *testing.T) {
	t.Parallel()
	type one struct {
		Name string `json:"name"`
		Text string `json:"text,string"`
	}
	read := func(text string) (theirs, ours error) {
		var a, b one
		return json.Unmarshal([]byte(text), &a), Decode([]byte(text), &b)
	}
	for name, text := range map[string]string{
		"a name twice":     `{"name":"a","name":"b"}`,
		"no UTF-8":         "{\"name\":\"\xff\"}",
		"a lone surrogate": `{"name":"\ud800"}`,
		"null as text":     `{"name":"a","text":"null"}`,
	} {
		if theirs, ours := read(text); theirs != nil || ours == nil {
			t.Errorf("%s: encoding/json %v, here %v", name, theirs, ours)
		}
	}
	var other one
	if err := Decode([]byte(`{"NAME":"a"}`), &other); err != nil || other.Name != "" {
		t.Errorf("another case: %+v %v", other, err)
	}
	at := stamped{time.Date(2026, 1, 1, 0, 0, 0, 5, time.FixedZone("east", 3600))}
	theirs, _ := json.Marshal(at)
	if ours, err := Encode(at); err != nil || string(ours) != string(theirs) {
		t.Errorf("an embedded time: %s, not %s: %v", ours, theirs, err)
	}
	if text, err := Encode("<>&\u2028"); err != nil || string(text) != "\"<>&\u2028\"" {
		t.Errorf("escapes: %s %v", text, err)
	}
	if _, err := Encode("\xff"); err == nil {
		t.Error("text that is not UTF-8 is written")
	}
}

func TestCheckType(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]any{
		`"unknown"`: struct {
			Rest map[string]any `json:",unknown"`
		}{},
		`"inline"`: struct {
			Rest map[string]any `json:",inline"`
		}{},
		`"embed"`: struct {
			Rest map[string]any `json:",embed"`
		}{},
		`"format"`: struct {
			At time.Time `json:"at,format:RFC3339"`
		}{},
		`"case"`: struct {
			A string `json:"a,case:ignore"`
		}{},
		"does nothing on a []int64": struct {
			A []int64 `json:"a,string"` //nolint:staticcheck // what is wrong with it is the point
		}{},
		"trailing": struct {
			A string `json:"a,"` //nolint:staticcheck // what is wrong with it is the point
		}{},
		"duplicate": struct {
			A string `json:"a,omitempty,omitempty"` //nolint:staticcheck // what is wrong with it is the point
		}{},
		"not exported": reflect.Zero(reflect.StructOf([]reflect.StructField{
			{Name: "a", PkgPath: "example.com/a", Type: reflect.TypeFor[string](), Tag: `json:"a"`},
		})).Interface(),
		"characters": struct {
			A string `json:"a\"b"` //nolint:staticcheck // what is wrong with it is the point
		}{},
		"chan int can't be": struct {
			Inner []map[string]struct{ C chan int }
		}{},
		"neither text nor": struct {
			A map[float64]int `json:"a"`
		}{},
		"no exported fields": struct {
			A struct{ b int } `json:"a"`
		}{},
	} {
		if err := CheckType(reflect.TypeOf(v)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%T: %v, not %s", v, err, want)
		}
	}
	type recursive struct {
		Next  *recursive            `json:"next,omitempty"`
		Inner map[string]*recursive `json:"inner"`
		At    time.Time             `json:"at,omitzero"`
		N     json.Number           `json:"n,string"`
		Any   any                   `json:"any"`
		Raw   json.RawMessage       `json:"raw"`
	}
	if err := CheckType(reflect.TypeFor[recursive]()); err != nil {
		t.Error(err)
	}
}

// No error quotes what stood in a document, or a map's key.
func TestErrorsQuoteNothing(t *testing.T) {
	t.Parallel()
	type inner struct {
		N int `json:"n"`
	}
	type outer struct {
		ByMail map[string]inner `json:"byMail"`
		List   []inner          `json:"list"`
		At     time.Time        `json:"at"`
	}
	for text, path := range map[string]string{
		`{"byMail":{"ada@example.com":{"n":"secret"}}}`:     "byMail.*.n",
		`{"byMail":{"ada@example.com":{"n":1,"secret":}}}`:  "byMail.*",
		`{"byMail":{"secret":{},"secret":{}}}`:              "byMail.*",
		`{"list":[{"n":1},{"n":"secret"}]}`:                 "list[].n",
		`{"at":"secret"}`:                                   "at",
		`{"secret":{"secret":{"a":1,"a":2}}}`:               "the top",
		"{\"byMail\":{\"secret\":{\"secret\":\"\xff\"}}}":   "byMail.*",
		`{"byMail":{"secret/x":{"n":9999999999999999999}}}`: "byMail.*.n",
	} {
		var v outer
		_, err := NewReader(nil).Document([]byte(text), &v)
		if err == nil || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "ada") {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, v := range []any{
		outer{ByMail: map[string]inner{"secret": {N: 1 << 60}}},
		map[string]any{"secret": make(chan int)},
		map[string]any{"secret": map[string]string{"secret": "secret\xff"}},
		map[string]any{"secret": json.RawMessage("secret")},
	} {
		if _, err := Encode(v); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v", err)
		}
	}
}

func FuzzDocument(f *testing.F) {
	type doc struct {
		A string            `json:"a"`
		B float64           `json:"b"`
		C []int8            `json:"c"`
		D map[string]string `json:"d"`
		E *doc0             `json:"e"`
		T time.Time         `json:"t"`
		Q bool              `json:"q,string"`
	}
	for _, s := range []string{`{"a":"x","b":1.5,"c":[1,-2],"d":{"k":"v"},"e":{"n":1},"t":"2026-01-01T00:00:00Z","q":"true"}`, `{"z":[{}],"a":"\ud83d\ude00"}`, `null`, `{"b":1e999}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var slow, fast doc
		slowErr := Decode(text, &slow)
		_, fastErr := NewReader(nil).Document(text, &fast)
		if (slowErr == nil) != (fastErr == nil) || slowErr == nil && !reflect.DeepEqual(slow, fast) {
			t.Fatalf("Decode %+v %v\nDocument %+v %v", slow, slowErr, fast, fastErr)
		}
	})
}

type doc0 struct {
	N uint16 `json:"n"`
}
