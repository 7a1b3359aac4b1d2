package query_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/eval"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/query"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

func firstToken(t testing.TB, req query.Request) string {
	t.Helper()
	page, err := query.Run(t.Context(), req)
	if err != nil || page.Continuation == "" {
		t.Fatalf("no token: %v", err)
	}
	return page.Continuation
}

func TestTokensOfOthersAreRefused(t *testing.T) {
	t.Parallel()
	source := items(t, `{"id": 1, "n": 1}`, `{"id": 2, "n": 2}`, `{"id": 3, "n": 3}`)
	req := request(t, `SELECT * FROM c WHERE c.n > @n ORDER BY c.n`, source)
	req.Parameters = map[string]value.Value{"@n": value.FromNumber(0)}
	req.MaxItems = 1
	token := firstToken(t, req)

	other := req
	other.Query = parse(t, `SELECT * FROM c WHERE c.n >= @n ORDER BY c.n`)
	parameters := req
	parameters.Parameters = map[string]value.Value{"@n": value.FromNumber(1)}
	container := req
	container.Identity = "another"
	cases := []struct {
		name  string
		req   query.Request
		token string
	}{
		{"another query", other, token},
		{"other parameters", parameters, token},
		{"another container", container, token},
		{"garbage", req, "garbage"},
		{"no content", req, "G1."},
		{"another version", req, "G2." + strings.TrimPrefix(token, "G1.")},
		{"cut short", req, token[:len(token)-1]},
		{"grown", req, token + "0"},
		{"changed", req, strings.Replace(token, "G1.e", "G1.f", 1)},
		{"huge", req, token + strings.Repeat("A", 1<<20)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.req.Continuation = c.token
			_, err := query.Run(t.Context(), c.req)
			var refused *eval.Error
			if !errors.As(err, &refused) {
				t.Fatalf("got %v, want an eval.Error", err)
			}
		})
	}
}

// TestLongSortKeys checks that tokens stay small, and what happens when the item that one refers to is gone.
func TestLongSortKeys(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100_000)
	source := items(t, `{"id": 1, "s": "`+long+`1"}`, `{"id": 2, "s": "`+long+`2"}`, `{"id": 3, "s": "`+long+`3"}`)
	req := request(t, `SELECT VALUE c.id FROM c ORDER BY c.s`, source)
	req.MaxItems = 1
	req.Continuation = firstToken(t, req)
	if len(req.Continuation) > 2048 {
		t.Fatalf("the token has %d bytes", len(req.Continuation))
	}
	if got := whole(t, req); got != "2 3" {
		t.Fatalf("got %s, want 2 3", got)
	}
	req.Source = source[2:]
	_, err := query.Run(t.Context(), req)
	var refused *eval.Error
	if !errors.As(err, &refused) || strings.Contains(refused.Message, "xxx") {
		t.Fatalf("got %v, want an eval.Error without the key", err)
	}
}

func FuzzContinuation(f *testing.F) {
	source := items(f, `{"id": 1, "n": 1, "tags": ["a", "b"]}`, `{"id": 2, "n": null}`, `{"id": 3, "n": "x", "tags": [1]}`)
	texts := []string{`SELECT * FROM c`, `SELECT VALUE t FROM c JOIN t IN c.tags`, `SELECT * FROM c ORDER BY c.n DESC`, `SELECT DISTINCT c.n FROM c`,
		`SELECT c.n, COUNT(1) AS k FROM c GROUP BY c.n`, `SELECT c.id FROM c OFFSET 1 LIMIT 2`}
	requests := make([]query.Request, len(texts))
	for i, text := range texts {
		requests[i] = request(f, text, source)
		requests[i].MaxItems, requests[i].EndLate = 1, true
		f.Add(i, firstToken(f, requests[i]))
	}
	f.Add(0, "G1.e30.00")
	f.Fuzz(func(t *testing.T, i int, token string) {
		req := requests[uint(i)%uint(len(requests))]
		req.Continuation = token
		page, err := query.Run(t.Context(), req)
		var refused *eval.Error
		if err != nil && !errors.As(err, &refused) {
			t.Fatalf("got %v, want an eval.Error", err)
		}
		if err == nil && len(page.Documents) > 1 {
			t.Fatalf("a page of %d documents, want at most 1", len(page.Documents))
		}
	})
}
