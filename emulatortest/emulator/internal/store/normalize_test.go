package store

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

func TestNormalize(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{`{}`, `{}`},
		{`{"a":1,"b":[-2,0]}`, `{"a":1,"b":[-2,0]}`},
		{" { \"a\" :\t[ ]\n}", `{"a":[]}`},
		{`[1.0,-0,-0.0,0e0,2e1,1.2300,1E2]`, `[1,0,0,0,20,1.23,100]`},
		{`[999999999999999,9007199254740991,-9007199254740991]`, `[999999999999999,9007199254740991,-9007199254740991]`},
		{`[9007199254740992,9007199254740993,-9223372036854775808]`, `[9.007199254740992e+15,9.007199254740992e+15,-9.223372036854776e+18]`},
		{`18446744073709551614`, `1.8446744073709552e+19`},
		{`[1e20,1e-20,0.1,1e300,123456789.5]`, `[1e+20,1e-20,0.1,1e+300,123456789.5]`},
		{`{"1.0":"1.0 -0 \" 2e1","x": "\u0041"}`, `{"1.0":"1.0 -0 \" 2e1","x":"\u0041"}`},
	} {
		if got := string(normalize([]byte(tt.text))); got != tt.want {
			t.Errorf("%s is kept as %s, want %s", tt.text, got, tt.want)
		}
	}
	plain := []byte(`{"a":"b c","n":[12,-5]}`)
	if got := normalize(plain); &got[0] != &plain[0] {
		t.Error("a text with nothing to change is copied")
	}
}

// TestNormalizedValuesStayEqual checks that what is kept means the same as what was written, and is kept as it is again.
func TestNormalizedValuesStayEqual(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tree := rapid.MapOf(rapid.String(), rapid.SliceOf(rapid.Float64())).Draw(t, "tree")
		text, err := json.MarshalIndent(tree, "", rapid.SampledFrom([]string{"", " "}).Draw(t, "indent"))
		if err != nil {
			t.Skip("no JSON")
		}
		kept := normalize(text)
		before, err := value.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		after, err := value.Parse(kept)
		if err != nil || !value.Equal(before, after) {
			t.Fatalf("%s is kept as %s: %v", text, kept, err)
		}
		if again := normalize(kept); string(again) != string(kept) {
			t.Fatalf("%s becomes %s the second time", kept, again)
		}
	})
}
