package codec

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// readText reads one JSON string by the plan, and by the library.
func readText(t interface{ Fatalf(string, ...any) }, text string) {
	r := reader{data: []byte(text)}
	var planned, library string
	plannedOK := readString(&r, reflect.ValueOf(&planned).Elem()) && r.pos == len(text)
	err := Decode([]byte(text), &library)
	if plannedOK != (err == nil) || plannedOK && planned != library {
		t.Fatalf("%q: the plan reads %q %t, the library %q %v", text, planned, plannedOK, library, err)
	}
}

func TestTextsAreReadAsByTheLibrary(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`""`, `"plain"`, `"\""`, `"\\"`, `"\/\b\f\n\r\t"`, `"\a"`, `"\u00e9"`, `"\u00E9x"`, `"\u0000"`, `"\u12"`, `"\u12g4"`, `"\u+123"`, `"\u 123"`,
		`"\ud83d\ude00"`, `"\ud83d"`, `"\ud83dx"`, `"\ud83d\n"`, `"\ud83d\ud83d"`, `"\ude00\ud83d"`, `"\ud83d\u0041"`, `"\ud83d\u"`, `"\`, `"\"`, `"\u`, `"a`, `"`,
		"\"\xff\"", "\"\\n\xff\"", "\"\\n\xe9\xb1\xb1\"", "\"\xed\xa0\x80\"", "\"a\nb\"", "\"a\x1fb\"", "\"a\x7fb\"", "\"1234567\"", "\"12345678\"", "\"12345678\x00\"",
		`"\ufffd"`, `"\\u0041"`, `"\\\u0041"`, `"\"0000d826-0000-0700-0000-000000000000\""`,
	} {
		readText(t, text)
	}
}

// Eight bytes are looked at together: whatever stands among plain ones is found
// at each place.
func TestTextsOfAllLengthsAreReadAsByTheLibrary(t *testing.T) {
	t.Parallel()
	odd := []string{`"`, `\`, `\"`, `\u0041`, "\x00", "\x1f", " ", "!", "#", "[", "]", "~", "\x7f", "\x80", "\xff", "é", "鱀", "😀", "\u00a2", "\u00dc"}
	for length := range 20 {
		for at := range length + 1 {
			for _, c := range odd {
				readText(t, `"`+strings.Repeat("a", at)+c+strings.Repeat("b", length-at)+`"`)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom(append(odd, "a", "longer than eight", `\n`, `\ud83d`, `\ude00`, `\u`)), 0, 12).Draw(t, "parts")
		readText(t, `"`+strings.Join(parts, "")+`"`)
	})
}

// A member's name is compared as it usually stands, and otherwise as any JSON
// may write it.
func TestNamesAreFoundHoweverTheyAreWritten(t *testing.T) {
	t.Parallel()
	type document struct {
		A string `json:"a"`
		B string `json:"b-é"`
		C string `json:"c"`
	}
	want := document{"1", "2", "3"}
	for _, text := range []string{
		`{"a":"1","b-é":"2","c":"3"}`, `{ "a" : "1" , "b-é" : "2" , "c" : "3" }`, `{"c":"3","b-é":"2","a":"1"}`,
		`{"\u0061":"1","b-\u00e9":"2","c":"3"}`, `{"a"` + "\n" + `:"1","b-é":"2","d":"4","c":"3"}`, `{"ab":"0","a":"1","b-é":"2","c":"3"}`,
	} {
		var planned, library document
		r := reader{data: []byte(text)}
		if planOf(reflect.TypeFor[document]())(&r, reflect.ValueOf(&planned).Elem()) && planned != want {
			t.Errorf("%s: the plan reads %v", text, planned)
		}
		if err := Decode([]byte(text), &library); err != nil || library != want {
			t.Errorf("%s: %v %v", text, library, err)
		}
	}
}
