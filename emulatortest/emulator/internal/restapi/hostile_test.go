package restapi

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// hostile is a query whose text describes far more data or work than it takes to send it.
type hostile struct {
	name, query string
	parameters  map[string]any
	budget      string // what the refusal names
	costly      bool   // takes seconds, or much memory, until it is refused
}

const (
	memoryBudget = "memory budget"
	stepBudget   = "budget of 10000000000 steps"
	valueLimit   = "builds a value that is too large"
)

func zeros(n int) []int               { return make([]int, n) }
func times(text string, n int) string { return strings.TrimSuffix(strings.Repeat(text+",", n), ",") }
func letters(n int) string            { return strings.Repeat("a", n) }

// hostileQueries run on a container with the items {"n":0,"long":<1,000 letters>} to {"n":99,...} of one key.
func hostileQueries() []hostile {
	million, long := zeros(1_000_000), letters(1<<20)
	numbers := make([]int, 100_000)
	for i := range numbers {
		numbers[i] = i
	}
	list := func(n int) map[string]any { return map[string]any{"@a": zeros(n)} }
	return []hostile{
		{"arrays put together", "SELECT VALUE ARRAY_LENGTH(ARRAY_CONCAT(" + times("@a", 2000) + ")) FROM c", map[string]any{"@a": million}, memoryBudget, false},
		{"list of long strings", "SELECT VALUE [" + times("CONCAT(@s, @s)", 2000) + "] FROM c", map[string]any{"@s": long}, memoryBudget, true},
		{"object of long strings", `SELECT ` + times("CONCAT(@s, @s)", 2000) + " FROM c", map[string]any{"@s": long}, memoryBudget, true},
		{"groups by long strings", "SELECT COUNT(1) AS n FROM c JOIN x IN (SELECT VALUE @a) GROUP BY CONCAT(@s, ToString(x))", map[string]any{"@s": long, "@a": numbers}, memoryBudget, false},
		{"list of a subquery", "SELECT VALUE ARRAY_LENGTH(ARRAY(SELECT VALUE CONCAT(@s, ToString(x)) FROM x IN (SELECT VALUE @a))) FROM c", map[string]any{"@s": long, "@a": numbers}, memoryBudget, false},
		{"MAKELIST", "SELECT VALUE ARRAY_LENGTH(MAKELIST(CONCAT(@s, ToString(x)))) FROM c JOIN x IN (SELECT VALUE @a)", map[string]any{"@s": long, "@a": numbers}, memoryBudget, false},
		{"MAKESET", "SELECT VALUE MAKESET(CONCAT(@s, ToString(x))) FROM c JOIN x IN (SELECT VALUE @a)", map[string]any{"@s": long, "@a": numbers}, memoryBudget, true},
		{"MAKELIST inside", "SELECT VALUE (SELECT VALUE ARRAY_LENGTH(MAKELIST([x, x, x, x, x, x, x, x])) FROM x IN (SELECT VALUE @a) JOIN y IN (SELECT VALUE @b)) FROM c", map[string]any{"@a": numbers, "@b": zeros(30)}, memoryBudget, true},
		{"distinct long strings", "SELECT DISTINCT VALUE CONCAT(@s, ToString(x)) FROM c JOIN x IN (SELECT VALUE @a) ORDER BY c.n", map[string]any{"@s": letters(1 << 19), "@a": numbers}, memoryBudget, true},
		{"distinct inside", "SELECT VALUE COUNT(1) FROM c JOIN (SELECT DISTINCT VALUE CONCAT(@s, ToString(x)) FROM x IN (SELECT VALUE @a)) y", map[string]any{"@s": long, "@a": numbers}, memoryBudget, true},
		{"derived table", "SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE CONCAT(@s, ToString(x)) FROM c JOIN x IN (SELECT VALUE @a))", map[string]any{"@s": long, "@a": numbers}, memoryBudget, true},
		{"derived lists", "SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE [c.n, @a] FROM c)", list(1_000_000), memoryBudget, true},
		{"sorted rows", "SELECT c.n FROM c JOIN x IN (SELECT VALUE @a) JOIN y IN (SELECT VALUE @b) ORDER BY c.n OFFSET 3000000 LIMIT 10", map[string]any{"@a": zeros(1000), "@b": zeros(1000)}, memoryBudget, true},
		{"StringSplit", "SELECT VALUE [" + times("ARRAY_LENGTH(StringSplit(@s, \"a\"))", 1) + "," + times("StringSplit(@s, \"a\")", 200) + "] FROM c", map[string]any{"@s": long}, memoryBudget, true},
		{"REPLICATE", "SELECT VALUE ARRAY_LENGTH(ARRAY(SELECT VALUE REPLICATE(ToString(x), 1000) FROM x IN (SELECT VALUE @a))) FROM c", map[string]any{"@a": numbers}, memoryBudget, true},
		{"REPLACE", "SELECT VALUE [" + times(`REPLACE(@s, "a", "aaaaaaaaaaaaaaa")`, 200) + "] FROM c", map[string]any{"@s": long}, memoryBudget, true},
		{"REPLACE of one string", `SELECT VALUE REPLACE(@s, "a", @s) FROM c`, map[string]any{"@s": long}, valueLimit, false},
		{"REVERSE", "SELECT VALUE [" + times("REVERSE(@s)", 2000) + "] FROM c", map[string]any{"@s": long}, memoryBudget, true},
		{"UPPER", "SELECT VALUE [" + times("UPPER(@s)", 2000) + "] FROM c", map[string]any{"@s": long}, memoryBudget, true},
		{"StringToArray", "SELECT VALUE [" + times("StringToArray(@s)", 100) + "] FROM c", map[string]any{"@s": "[" + times("0", 1<<19) + "]"}, memoryBudget, true},
		{"ToString", "SELECT VALUE ToString([" + times("@a", 1000) + "]) FROM c", list(1_000_000), valueLimit, false},
		{"SetUnion", "SELECT VALUE [" + times("SetUnion(@a, @a)", 100) + "] FROM c", map[string]any{"@a": numbers}, memoryBudget, true},
		{"ARRAY_SLICE", "SELECT VALUE [" + times("ARRAY_SLICE(@a, 1)", 100) + "] FROM c", map[string]any{"@a": million}, memoryBudget, true},
		{"LIKE with a long pattern", "SELECT VALUE [" + times("@s LIKE @s", 100) + "] FROM c", map[string]any{"@s": letters(4 << 20 / 2)}, memoryBudget, false},
		{"regular expression with repeats", `SELECT VALUE RegexMatch(c.long, "` + strings.Repeat("(ab?){500}", 60) + `") FROM c`, nil, "repeats", false},
		{"regular expression with repeats of repeats", `SELECT VALUE RegexMatch(c.long, "((a{100}b){100}c){100}") FROM c`, nil, "repeats", false},
		{"many regular expressions", `SELECT VALUE COUNT(1) FROM x IN (SELECT VALUE @a) WHERE RegexMatch(@s, CONCAT("(a?b?c?d?){999}", ToString(x)))`, map[string]any{"@a": numbers, "@s": letters(1000)}, stepBudget, true},
		{"RegexMatch in a list", "SELECT VALUE [" + times(`RegexMatch(@s, "(a?){300}(a?){300}b")`, 500) + "] FROM c", map[string]any{"@s": long}, stepBudget, true},
		{"LTRIM of long texts", "SELECT VALUE [" + times("LENGTH(LTRIM(@s, @t))", 5000) + "] FROM c", map[string]any{"@s": long, "@t": long}, memoryBudget, true},
		{"ARRAY_CONTAINS_ANY", "SELECT VALUE ARRAY_CONTAINS_ANY(@a, " + times("1", 100_000) + ") FROM c", list(1_000_000), stepBudget, true},
		{"comparisons of long lists", "SELECT VALUE COUNT(1) FROM x IN (SELECT VALUE @n) WHERE @a = @b", map[string]any{"@n": numbers, "@a": zeros(500_000), "@b": append(zeros(499_999), 1)}, stepBudget, true},
	}
}

func hostileBundle(t testing.TB) *bundle {
	t.Helper()
	b := setup(t)
	for i := range 100 {
		b.do(t, "POST", docsPath, fmt.Sprintf(`{"id":"%d","pk":"a","n":%d,"long":%q}`, i, i, letters(1000)), keyHeader, `["a"]`)
	}
	return b
}

func (b *bundle) hostile(ctx context.Context, t testing.TB, h *hostile) *Answer {
	t.Helper()
	body := map[string]any{"query": h.query}
	var parameters []map[string]any
	for name, v := range h.parameters {
		parameters = append(parameters, map[string]any{"name": name, "value": v})
	}
	body["parameters"] = parameters
	encoded, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return b.exchangeUntil(ctx, t, "POST", docsPath, string(encoded), "Content-Type", "application/query+json", keyHeader, `["a"]`)
}

func soaking() bool { return os.Getenv("GROVE_SOAK") != "" }

// TestQueriesEndWhenTheirClientLeaves lets clients leave after half a second, and wants the handler to return within one more, if no budget ended the query before. The log has how
// long that took.
func TestQueriesEndWhenTheirClientLeaves(t *testing.T) {
	t.Parallel()
	if !soaking() {
		t.Skip("its time is measured: run with GROVE_SOAK=1, beside nothing else")
	}
	for _, h := range hostileQueries() { //nolint:paralleltest // their time is measured
		if !h.costly {
			continue
		}
		t.Run(h.name, func(t *testing.T) {
			b := hostileBundle(t)
			const patience = 500 * time.Millisecond
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			begun := time.Now()
			b.hostile(ctx, t, &h)
			after := time.Since(begun) - patience
			t.Logf("returned %v after its client left", after.Round(time.Millisecond))
			if after > time.Second {
				t.Errorf("the handler went on for %v after its client left", after)
			}
		})
	}
}

// TestHostileQueries wants each to be refused by the name of the budget that it exceeds. GROVE_SOAK=1 runs the costly ones,
// one after the other, and measures what the process holds at most.
func TestHostileQueries(t *testing.T) {
	t.Parallel()
	const mostHeld = 1 << 30
	b := hostileBundle(t)
	for _, h := range hostileQueries() { //nolint:paralleltest // their memory is measured
		t.Run(h.name, func(t *testing.T) {
			if h.costly && !soaking() {
				t.Skip("costly: run with GROVE_SOAK=1")
			}
			held := watchHeap()
			begun := time.Now()
			a := b.hostile(t.Context(), t, &h)
			most := held()
			t.Logf("%v, at most %d MB", time.Since(begun).Round(time.Millisecond), most>>20)
			if a.Status != 400 || !strings.Contains(string(a.Body), h.budget) {
				t.Errorf("got %d %.300s, want 400 that names the %s", a.Status, a.Body, h.budget)
			}
			if soaking() && most > mostHeld {
				t.Errorf("the process held %d MB", most>>20)
			}
		})
	}
}

// watchHeap measures the heap until its result is called, which returns the most that it has grown.
func watchHeap() func() (most uint64) {
	if !soaking() {
		return func() uint64 { return 0 }
	}
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	done, result := make(chan struct{}), make(chan uint64)
	go func() {
		most := before.HeapInuse
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				var now runtime.MemStats
				runtime.ReadMemStats(&now)
				most = max(most, now.HeapInuse)
			case <-done:
				result <- most - before.HeapInuse
				return
			}
		}
	}()
	return func() uint64 {
		close(done)
		return <-result
	}
}
