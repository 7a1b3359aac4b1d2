package engine

import (
	"net/http"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSessionTokensMerge(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		tokens []string
		want   string
	}{
		{"the later of one range", []string{"0:-1#5", "0:-1#12", "0:-1#7"}, "0:-1#12"},
		{"several ranges", []string{"0:-1#5", "1:-1#3,2:-1#9"}, "0:-1#5,1:-1#3,2:-1#9"},
		{"the oldest form", []string{"0:17"}, "0:-1#17"},
		{"regions one by one", []string{"0:1#12#3=12#4=7", "0:1#14#3=10#4=9"}, "0:1#14#3=12#4=9"},
		{"a newer version's regions", []string{"0:1#12#3=12#4=7", "0:2#10#3=9#5=1"}, "0:2#12#3=12#5=1"},
		{"an older version late", []string{"0:2#10#3=9#5=1", "0:1#12#3=12#4=7"}, "0:2#12#3=12#5=1"},
		{"what is not understood", []string{"0:-1#5", "x:-1#6", "0", "0:a#b", ""}, "0:-1#5"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := sessionRanges{}
			for _, token := range tt.tokens {
				r.merge(token)
			}
			if got := r.String(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestSessionsForgetAContainerThatWasMadeAnew(t *testing.T) {
	t.Parallel()
	var s Sessions
	answer := func(rid, token string) {
		h := http.Header{}
		h.Set("x-ms-content-path", rid)
		h.Set("x-ms-session-token", token)
		s.note(h)
	}
	answer("A", "0:-1#100")
	answer("B", "0:-1#2")
	if got := *s.joined.Load(); got != "0:-1#2" {
		t.Errorf("got %s", got)
	}
}

// Merging takes over what is further, whatever the order and however often.
func TestSessionMergeIsOrderless(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		token := rapid.Custom(func(t *rapid.T) string {
			return rapid.StringMatching(`[0-3]:(-1#[0-9]{1,3}|1#[0-9]{1,3}#1=[0-9]{1,2}#2=[0-9]{1,2})`).Draw(t, "token")
		})
		tokens := rapid.SliceOfN(token, 1, 8).Draw(t, "tokens")
		forward, backward := sessionRanges{}, sessionRanges{}
		for i := range tokens {
			forward.merge(tokens[i])
			backward.merge(tokens[len(tokens)-1-i])
		}
		forward.merge(strings.Join(tokens, ","))
		if forward.String() != backward.String() {
			t.Fatalf("%s and %s", forward, backward)
		}
	})
}

func FuzzSessionToken(f *testing.F) {
	f.Add("0:-1#12")
	f.Add("0:1#12#3=12,4:-1#7")
	f.Fuzz(func(t *testing.T, token string) {
		r := sessionRanges{}
		r.merge(token)
		again := sessionRanges{}
		again.merge(r.String())
		if again.String() != r.String() {
			t.Errorf("%q becomes %q becomes %q", token, r.String(), again.String())
		}
	})
}
