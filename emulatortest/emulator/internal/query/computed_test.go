package query_test

import (
	"errors"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/eval"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/query"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

func parseComputed(t testing.TB, text string) (query.Computed, error) {
	t.Helper()
	v, err := value.ParseString(text)
	if err != nil {
		t.Fatal(err)
	}
	return query.ParseComputed(v)
}

func TestComputedProperties(t *testing.T) {
	t.Parallel()
	computed, err := parseComputed(t, `[{"name": "lower", "query": "SELECT VALUE LOWER(c.name) FROM c"},
		{"name": "half", "query": "SELECT VALUE c.price * 0.5 FROM c"}]`)
	if err != nil {
		t.Fatal(err)
	}
	source := items(t, `{"name": "Zed", "price": 4}`, `{"name": "Abe", "half": 7}`, `{"name": "Mia", "price": 2}`)
	for text, want := range map[string]string{
		`SELECT c.lower FROM c WHERE c.half > 1`:              `{"lower":"zed"}`,
		`SELECT VALUE c.half FROM c ORDER BY c.lower`:         `1 2`,
		`SELECT * FROM c WHERE c.lower = "zed"`:               `{"name": "Zed", "price": 4}`,
		`SELECT c.half, COUNT(1) AS n FROM c GROUP BY c.half`: `{"half":2,"n":1} {"n":1} {"half":1,"n":1}`,
	} {
		req := request(t, text, source)
		req.Computed = computed
		req.MaxItems = 1
		if got := whole(t, req); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestComputedPropertiesThatCannotBe(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`SELECT c.name FROM c`, `SELECT VALUE c.name FROM c WHERE true`, `SELECT VALUE COUNT(1) FROM c`, `SELECT VALUE 1`,
		`SELECT VALUE t FROM c JOIN t IN c.tags`, `SELECT VALUE`, `SELECT VALUE udf.f(c) FROM c`,
	} {
		_, err := parseComputed(t, `[{"name": "x", "query": "`+text+`"}]`)
		var syntax *sql.SyntaxError
		var refused *eval.Error
		if !errors.As(err, &syntax) && !errors.As(err, &refused) {
			t.Errorf("%s: got %v, want a refusal", text, err)
		}
	}
	if computed, err := query.ParseComputed(value.Value{}); err != nil || len(computed) != 0 {
		t.Errorf("no computed properties: got %v, %v", computed, err)
	}
}
