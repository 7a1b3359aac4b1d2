package engine

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// Two keys are one text only where they are one key.
func TestKeyTextTellsKeysApart(t *testing.T) {
	t.Parallel()
	if KeyText([]any{"a\x00string:b", "c"}) == KeyText([]any{"a", "b\x00string:c"}) {
		t.Error("two keys with a zero byte are one text")
	}
	value := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) any { return rapid.StringMatching("[ab\x00\x01:]{0,4}").Draw(t, "text") }),
		rapid.Custom(func(t *rapid.T) any { return rapid.Float64Range(-2, 2).Draw(t, "number") }),
		rapid.Custom(func(t *rapid.T) any { return rapid.Bool().Draw(t, "boolean") }),
		rapid.Just[any](nil),
	)
	key := rapid.SliceOfN(value, 0, 3)
	rapid.Check(t, func(t *rapid.T) {
		a, b := key.Draw(t, "one"), key.Draw(t, "other")
		if same := reflect.DeepEqual(a, b); (KeyText(a) == KeyText(b)) != same {
			t.Fatalf("%#v and %#v: %q, %q", a, b, KeyText(a), KeyText(b))
		}
	})
}
