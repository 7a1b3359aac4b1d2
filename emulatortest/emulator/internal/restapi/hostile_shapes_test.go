package restapi

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/eval"
)

// TestDeepNestingIsRefused sends what recursion would follow a quarter of a million levels deep.
func TestDeepNestingIsRefused(t *testing.T) {
	t.Parallel()
	const levels = 250_000
	b := setup(t)
	nested := strings.Repeat("[", levels) + strings.Repeat("]", levels)
	for name, body := range map[string]string{
		"parentheses": `{"query":"SELECT VALUE ` + strings.Repeat("(", levels) + "1" + strings.Repeat(")", levels) + `"}`,
		"lists":       `{"query":"SELECT VALUE ` + nested + `"}`,
		"parameter":   `{"query":"SELECT VALUE @p","parameters":[{"name":"@p","value":` + nested + `}]}`,
		"body":        nested,
	} {
		a := b.do(t, "POST", docsPath, body, "Content-Type", "application/query+json", keyHeader, `["a"]`)
		if a.Status != 400 {
			t.Errorf("%s: got %d %.200s, want 400", name, a.Status, a.Body)
		}
	}
	if a := b.do(t, "POST", docsPath, `{"id":"1","pk":"a","x":`+nested+`}`, keyHeader, `["a"]`); a.Status != 400 {
		t.Errorf("document: got %d %.200s, want 400", a.Status, a.Body)
	}
}

func TestLargeBodiesAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	text := strings.Repeat(" ", 50<<20)
	for name, headers := range map[string][]string{
		"query":    {"Content-Type", "application/query+json", keyHeader, `["a"]`},
		"document": {keyHeader, `["a"]`},
	} {
		if a := b.do(t, "POST", docsPath, text, headers...); a.Status != 413 {
			t.Errorf("%s: got %d %.200s, want 413", name, a.Status, a.Body)
		}
	}
}

func TestCrossJoinsAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	h := &hostile{
		query:      "SELECT VALUE COUNT(1) FROM c" + joins(4),
		parameters: map[string]any{"@a": zeros(500)},
	}
	b.do(t, "POST", docsPath, `{"id":"1","pk":"a"}`, keyHeader, `["a"]`)
	if a := b.hostile(t.Context(), t, h); a.Status != 400 || !strings.Contains(string(a.Body), "more rows") {
		t.Errorf("got %d %.200s, want 400 for the number of rows", a.Status, a.Body)
	}
}

func joins(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, " JOIN x%d IN (SELECT VALUE @a)", i)
	}
	return text.String()
}

// TestLongQueriesTakeLinearTime runs chains and lists that fill the longest text. By the square of their length each
// would take minutes, or more memory than there is.
func TestLongQueriesTakeLinearTime(t *testing.T) {
	t.Parallel()
	repeat := strings.Repeat
	cases := map[string]string{
		"strings put together": "SELECT VALUE c.id" + repeat("||'a'", 70_000) + " FROM c",
		"conjunction":          "SELECT VALUE 1 FROM c WHERE c.n=1" + repeat(" AND c.n=1", 50_000),
		"disjunction":          "SELECT VALUE 1 FROM c WHERE c.pk='a'" + repeat(" OR c.pk='a'", 40_000),
		"sum":                  "SELECT VALUE 1" + repeat("+1", 100_000) + " FROM c",
		"coalescence":          "SELECT VALUE c.zz" + repeat(" ?? c.zz", 40_000) + " FROM c",
		"one list":             "SELECT VALUE 1 FROM c WHERE c.n IN (" + repeat("1,", 15_000) + "1)",
		"many lists":           "SELECT VALUE 1 FROM c WHERE " + repeat("c.n IN (1,2,3,4,5,6,7,8,9) AND ", 12_000) + "true",
		"group by a chain":     "SELECT VALUE c.n" + repeat("+1", 50_000) + " FROM c GROUP BY c.n" + repeat("+1", 50_000),
		"columns":              "SELECT " + numbered("c.n AS a%d", 30_000) + " FROM c",
		"members":              "SELECT VALUE {" + numbered("a%d:c.n", 30_000) + "} FROM c",
		"groups":               "SELECT COUNT(1) AS n FROM c GROUP BY " + numbered("c.a%d", 30_000),
	}
	b := setup(t)
	b.do(t, "POST", docsPath, `{"id":"1","pk":"a","n":1}`, keyHeader, `["a"]`)
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if a := b.query(t, text, keyHeader, `["a"]`); a.Status != 200 {
				t.Errorf("got %d %.200s, want 200", a.Status, a.Body)
			}
			if a := b.query(t, text, "x-ms-cosmos-is-query-plan-request", "True"); a.Status != 200 {
				t.Errorf("plan: got %d %.200s, want 200", a.Status, a.Body)
			}
		})
	}
}

func numbered(format string, n int) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(parts, ",")
}

// TestAbortedRequests lets two thousand clients leave in the middle of their queries.
func TestAbortedRequests(t *testing.T) {
	t.Parallel()
	clients := 100
	if soaking() {
		clients = 2000
	}
	b := hostileBundle(t)
	body, err := json.Marshal(map[string]any{"query": "SELECT VALUE COUNT(1) FROM c" + joins(3), "parameters": []map[string]any{{"name": "@a", "value": zeros(300)}}})
	if err != nil {
		t.Fatal(err)
	}
	goroutines := runtime.NumGoroutine()
	var group sync.WaitGroup
	room := make(chan struct{}, 50)
	for range clients {
		room <- struct{}{}
		group.Go(func() {
			defer func() { <-room }()
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			b.exchangeUntil(ctx, t, "POST", docsPath, string(body), "Content-Type", "application/query+json", keyHeader, `["a"]`)
		})
	}
	group.Wait()
	if now := runtime.NumGoroutine(); soaking() && now > goroutines+10 {
		t.Errorf("%d goroutines before, %d after", goroutines, now)
	}
	// What the queries held is free again.
	if a := b.query(t, `SELECT VALUE COUNT(1) FROM c`, keyHeader, `["a"]`); a.Status != 200 || !strings.Contains(string(a.Body), "[100]") {
		t.Errorf("after them: got %d %s", a.Status, a.Body)
	}
}

// TestQueriesShareMemory lets queries that are each within their own budget run at once: some are told to come back, none
// is lost and all of the memory is free afterwards.
func TestQueriesShareMemory(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.h.queries = eval.NewMemory(64 << 20)
	b.do(t, "POST", docsPath, `{"id":"1","pk":"a"}`, keyHeader, `["a"]`)
	h := &hostile{query: "SELECT VALUE ARRAY_LENGTH([" + times("UPPER(@s)", 40) + "]) FROM c", parameters: map[string]any{"@s": letters(1 << 20)}}
	if a := b.hostile(t.Context(), t, h); a.Status != 429 || a.Header.Get("x-ms-retry-after-ms") == "" {
		t.Errorf("one query of more memory than all may have: got %d %.200s, want 429 with a time to wait", a.Status, a.Body)
	}
	h.query = "SELECT VALUE ARRAY_LENGTH([" + times("UPPER(@s)", 20) + "]) FROM c"
	for range 5 {
		if a := b.hostile(t.Context(), t, h); a.Status != 200 {
			t.Errorf("one after the other: got %d %.200s, want 200", a.Status, a.Body)
		}
	}
}
