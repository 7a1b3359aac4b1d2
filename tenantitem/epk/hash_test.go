package epk_test

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// The vectors were computed by running the epk package of azcosmos v1.5.0 and utils/hashing of @azure/cosmos 4.9.3.
func TestHash_singleLevel(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		key    epk.Component
		v2, v1 string
	}{
		{"undefined", epk.Undefined(), "11622DAA78F835834610ABE56EFF5CB5", "05C1D529E345DC00"},
		{"null", epk.Null(), "378867E4430E67857ACE5C908374FE16", "05C1ED45D7475601"},
		{"true", epk.Bool(true), "0E711127C5B5A8E4726AC6DD306A3E59", "05C1D7C5A903D803"},
		{"false", epk.Bool(false), "2FE1BE91E90A3439635E0E9E37361EF2", "05C1DB857D857C02"},
		{"0", epk.Number(0), "155B95BEDAC4B1E9EC1CDC9BB0DDDE58", "05C1BF6DA115600580"},
		{"-0", epk.Number(math.Copysign(0, -1)), "3D018BB1DF3DB27235766E81FD10406E", ""},
		{"1", epk.Number(1), "20CD98B339BA78A5D0CF6953B87070B0", ""},
		{"-1", epk.Number(-1), "19938E7A936C1C5B9E3AE842BBC16839", "05C1D1A5BDDF9C054010"},
		{"42", epk.Number(42), "08E6D561F6FD951DCC25E7E4EA2884B5", "05C1E75FCB273A05C04580"},
		{"1.5", epk.Number(1.5), "35C5DDEB6C795D16A9963C73C54E97BC", "05C1E9694167A805BFF8"},
		{"largest safe integer", epk.Number(9007199254740991), "12C221C7032CED1F9E6693CE1428E6CF", ""},
		{"empty", epk.String(""), "32E9366E637A71B4E710384B2F4970A0", "05C1CF33970FF80800"},
		{"a", epk.String("a"), "3A5381E1114EB8D3FCC90795045B49B7", ""},
		{"digit as text", epk.String("1"), "3C80B1B7310BB39F29CC4EA05BDD461E", ""},
		{"t1", epk.String("t1"), "3D48BB14DA9D090D22112C96695028B6", "05C1D593BD439408753200"},
		{"hello", epk.String("hello"), "0A8B5792B7BA3C7C47B0D1305A3C6F8A", "05C1EFF74961FE0869666D6D7000"},
		{"two bytes", epk.String("é"), "007199F104E04116EE25AF912CA4889B", "05C1B3CD91912008C4AA00"},
		{"three bytes", epk.String("鱀"), "26BB8A9DC450408217303F7AA09BCD38", "05C1ADC9E18FA008EAB28100"},
		{"alphabet", epk.String("abcdefghijklmnopqrstuvwxyz"), "13F80663DBDD6B9E01BAEE5DB74EF76E", ""},
		{"200 letters", epk.String(strings.Repeat("x", 200)), "34C859F7FC157766FF5170B1131F5F2F", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := epk.Hash(epk.HashV2, tt.key); got != tt.v2 {
				t.Errorf("version 2: got %s, want %s", got, tt.v2)
			}
			if got := epk.Hash(epk.MultiHash, tt.key); got != tt.v2 {
				t.Errorf("one level of MultiHash: got %s, want %s", got, tt.v2)
			}
			if got := epk.Hash(epk.HashV1, tt.key); tt.v1 != "" && got != tt.v1 {
				t.Errorf("version 1: got %s, want %s", got, tt.v1)
			}
		})
	}
}

func TestHash_severalLevels(t *testing.T) {
	t.Parallel()
	const t1 = "3D48BB14DA9D090D22112C96695028B6"
	tests := []struct {
		name string
		key  []epk.Component
		want string
	}{
		{"two", []epk.Component{epk.String("t1"), epk.String("u1")}, t1 + "2A947C94F6E254B945CEBC3196C9897C"},
		{"three", []epk.Component{epk.String("t1"), epk.String("u1"), epk.String("s1")}, t1 + "2A947C94F6E254B945CEBC3196C9897C2924A879AFFF52A411F93F1A83532751"},
		{"hello world", []epk.Component{epk.String("hello"), epk.String("world")}, "0A8B5792B7BA3C7C47B0D1305A3C6F8A0579464ACDF173F3697A8086D5419C70"},
		{"null and true", []epk.Component{epk.String("t1"), epk.Null(), epk.Bool(true)}, t1 + "378867E4430E67857ACE5C908374FE160E711127C5B5A8E4726AC6DD306A3E59"},
		{"undefined and 5", []epk.Component{epk.String("t1"), epk.Undefined(), epk.Number(5)}, t1 + "11622DAA78F835834610ABE56EFF5CB519C08621B135968252FB34B4CF66F811"},
		{"none is undefined", nil, "11622DAA78F835834610ABE56EFF5CB5"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := epk.Hash(epk.MultiHash, tt.key...); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestPrefixRange(t *testing.T) {
	t.Parallel()
	if lo, hi := epk.PrefixRange(epk.MultiHash); lo != epk.Min || hi != epk.Max {
		t.Errorf("no components: got [%q, %q)", lo, hi)
	}
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SliceOfN(component(), 2, 3).Draw(t, "key")
		lo, hi := epk.PrefixRange(epk.MultiHash, key[:1]...)
		full := epk.Hash(epk.MultiHash, key...)
		if epk.Compare(lo, full) > 0 || epk.Compare(full, hi) >= 0 {
			t.Fatalf("%s lies outside of its prefix's range [%s, %s)", full, lo, hi)
		}
	})
}

func TestCompare(t *testing.T) {
	t.Parallel()
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "FF", -1}, {"FF", "", 1}, {"", "00", 0},
		{"3D", "3D00", 0}, {"3D00", "3D", 0}, {"3D01", "3D", 1}, {"3D", "3D01", -1}, {"1F", "3D", -1},
	}
	for _, tt := range tests {
		if got := epk.Compare(tt.a, tt.b); got != tt.want {
			t.Errorf("Compare(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestLowerBound(t *testing.T) {
	t.Parallel()
	for _, bound := range []string{epk.Min, "20", "00"} {
		if got := epk.LowerBound(bound); got == "" || epk.Compare(got, bound) != 0 {
			t.Errorf("%q became %q", bound, got)
		}
	}
}

func TestSplitEvenly(t *testing.T) {
	t.Parallel()
	if got := epk.SplitEvenly(epk.MultiHash, 2)[1]; got != "20000000000000000000000000000000" {
		t.Errorf("two ranges meet at %s", got)
	}
	for _, s := range []epk.Scheme{epk.HashV1, epk.HashV2, epk.MultiHash} {
		for n := range 40 {
			bounds := epk.SplitEvenly(s, n)
			if len(bounds) != max(n, 1)+1 || bounds[0] != epk.Min || bounds[len(bounds)-1] != epk.Max {
				t.Fatalf("scheme %d, %d ranges: bounds %v do not tile the key space", s, n, bounds)
			}
			for i := range len(bounds) - 1 {
				mid, ok := epk.Middle(s, bounds[i], bounds[i+1])
				if !ok || epk.Compare(bounds[i], mid) >= 0 || epk.Compare(mid, bounds[i+1]) >= 0 {
					t.Fatalf("scheme %d: middle of [%s, %s) is %q, %v", s, bounds[i], bounds[i+1], mid, ok)
				}
			}
		}
	}
}

func TestMiddle_noRoom(t *testing.T) {
	t.Parallel()
	lo := epk.Hash(epk.HashV2, epk.String("t1"))
	if mid, ok := epk.Middle(epk.HashV2, lo, lo[:31]+"7"); ok {
		t.Errorf("neighbouring keys have no middle, got %s", mid)
	}
}

// Hashes must fall between the bounds that SplitEvenly and Middle make, or documents would have no range.
func TestHash_staysInTheKeySpace(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := component().Draw(t, "component")
		for _, s := range []epk.Scheme{epk.HashV1, epk.HashV2, epk.MultiHash} {
			h := epk.Hash(s, c)
			bounds := epk.SplitEvenly(s, rapid.IntRange(1, 20).Draw(t, "ranges"))
			owners := 0
			for i := range len(bounds) - 1 {
				if epk.Compare(bounds[i], h) <= 0 && epk.Compare(h, bounds[i+1]) < 0 {
					owners++
				}
			}
			if owners != 1 {
				t.Fatalf("scheme %d: %s has %d owners", s, h, owners)
			}
		}
	})
}

func TestComponent_canonicalIsUnambiguous(t *testing.T) {
	t.Parallel()
	encode := func(key []epk.Component) string {
		var b []byte
		for _, c := range key {
			b = c.AppendCanonical(b)
		}
		return string(b)
	}
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOfN(component(), 1, 3).Draw(t, "a")
		b := rapid.SliceOfN(component(), 1, 3).Draw(t, "b")
		same := len(a) == len(b)
		for i := range min(len(a), len(b)) {
			same = same && epk.Hash(epk.HashV2, a[i]) == epk.Hash(epk.HashV2, b[i])
		}
		if (encode(a) == encode(b)) != same {
			t.Fatalf("%v and %v: canonical equality is %v, key equality %v", a, b, encode(a) == encode(b), same)
		}
	})
}

func component() *rapid.Generator[epk.Component] {
	return rapid.OneOf(
		rapid.Just(epk.Undefined()), rapid.Just(epk.Null()),
		rapid.Map(rapid.Bool(), epk.Bool),
		rapid.Map(rapid.Float64(), epk.Number),
		rapid.Map(rapid.String(), epk.String),
	)
}

func BenchmarkHash(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		epk.Hash(epk.MultiHash, epk.String("acme"), epk.String("Note"))
	}
}
