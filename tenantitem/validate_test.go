package tenantitem_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/cosmosgrove/grove/tenantitem"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	const (
		nobody = 0
		id     = 1 << iota
		tenant
		key
		all = id | tenant | key
	)
	for _, tt := range []struct {
		name    string
		text    string
		refused int
	}{
		{"a word", "note-1_a.b:c", nobody},
		{"accents and Han", "é鱀", nobody},
		{"quotes and a space inside", `say "hi"`, nobody},
		{"empty", "", all},
		{"a space at the end", "end ", all},
		{"NUL", "nul\x00", all},
		{"a line break", "a\nb", all},
		{"DEL", "a\x7fb", all},
		{"a C1 control", "a\u0085b", all},
		{"a line separator", "a\u2028b", all},
		{"broken UTF-8", "a\xffb", all},
		{"an emoji", "a😀", tenant | key},
		{"a slash", "a/b", id | tenant},
		{"a backslash", `a\b`, id | tenant},
		{"a question mark", "a?b", id | tenant},
		{"a number sign", "a#b", id | tenant},
		{"a percent escape", "a%20b", id},
		{"a percent sign", "100%", nobody},
		{"one dot", ".", id | tenant},
		{"two dots", "..", id | tenant},
		{"1,023 bytes", strings.Repeat("x", 1023), nobody},
		{"1,024 bytes", strings.Repeat("x", 1024), id | tenant},
		{"2,049 bytes", strings.Repeat("x", 2049), all},
	} {
		for who, err := range map[int]error{
			id:     tenantitem.ValidateID(tt.text),
			tenant: errors.Join(tenantitem.ValidateTenantID(tt.text), tenantitem.ValidateEntityType(tt.text)),
			key:    tenantitem.ValidateKeyValue("/p", tt.text),
		} {
			if want := tt.refused&who != 0; errors.Is(err, tenantitem.ErrInvalid) != want {
				t.Errorf("%s, check %d: %v", tt.name, who, err)
			}
		}
	}
	for _, v := range []any{true, 1.5, math.Copysign(0, -1), 7, int8(-1), uint64(7), int64(1)<<53 - 1, float32(0.5), tenantitem.Ref[Book]("b-1"), tenantitem.Sync} {
		if err := tenantitem.ValidateKeyValue("/p", v); err != nil {
			t.Errorf("%v: %v", v, err)
		}
	}
	for _, v := range []any{nil, math.NaN(), math.Inf(1), float32(math.Inf(-1)), []string{"a"}, new(string), int64(1) << 53, int64(-1) << 53, uint64(1) << 53, tenantitem.Ref[Book]("")} {
		if err := tenantitem.ValidateKeyValue("/p", v); !errors.Is(err, tenantitem.ErrInvalid) {
			t.Errorf("%v: %v", v, err)
		}
	}
}

func TestErrorsNeverRepeatTheInput(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		secret := "secret" + rapid.String().Draw(t, "id")
		for _, err := range []error{tenantitem.ValidateID(secret), tenantitem.ValidateTenantID(secret), tenantitem.ValidateKeyValue("/p", secret)} {
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Fatal(err)
			}
		}
	})
}

func FuzzValidateID(f *testing.F) {
	for _, s := range []string{"", "a", "a/b", "..", "%2f", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if tenantitem.ValidateID(s) != nil {
			return
		}
		if s == "" || len(s) > tenantitem.MaxIDBytes || !utf8.ValidString(s) || strings.ContainsAny(s, "/\\?#\x00\n\r\t\x7f") || strings.HasSuffix(s, " ") {
			t.Fatalf("%q was accepted", s)
		}
	})
}
