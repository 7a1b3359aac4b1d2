package plan_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/plan"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

func parse(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, text string) *sql.Query {
	t.Helper()
	q, err := sql.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return q
}

func parameters(t *testing.T, text []byte) map[string]value.Value {
	t.Helper()
	found := map[string]value.Value{}
	if len(text) == 0 {
		return found
	}
	v, err := value.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	members, _ := v.Members()
	for _, m := range members {
		found[m.Name] = m.Value
	}
	return found
}

// Each line of testdata/plans.jsonl is a query and its plan.
func TestPlans(t *testing.T) {
	t.Parallel()
	type row struct {
		Name, Query, Error string
		Parameters, Info   json.RawMessage
		Clauses, Features  []string
	}
	text, err := os.ReadFile("testdata/plans.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); rows++ {
		tt := row{}
		if err := json.Unmarshal(lines.Bytes(), &tt); err != nil {
			t.Fatal(err)
		}
		t.Run(tt.Name, func(t *testing.T) {
			t.Parallel()
			q := parse(t, tt.Query)
			if got := plan.Clauses(q); !slices.Equal(got, tt.Clauses) {
				t.Errorf("the gateway refuses %q, want %q", got, tt.Clauses)
			}
			p, err := plan.Build(q, parameters(t, tt.Parameters), plan.Container{Paths: [][]string{{"pk"}}, Scheme: epk.HashV2})
			if err != nil || tt.Error != "" {
				if err == nil || err.Error() != tt.Error {
					t.Errorf("got error %v, want %q", err, tt.Error)
				}
				return
			}
			got, err := json.Marshal(p.QueryInfo)
			if err != nil {
				t.Fatal(err)
			}
			var gotTree, wantTree any
			if err := json.Unmarshal(got, &gotTree); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(tt.Info, &wantTree); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(gotTree, wantTree) {
				t.Errorf("got  %s\nwant %s", got, tt.Info)
			}
			if needed := p.QueryInfo.Features(); !slices.Equal(needed, tt.Features) {
				t.Errorf("the plan needs %q, want %q", needed, tt.Features)
			}
		})
	}
	if rows == 0 {
		t.Fatal("no plans")
	}
}

// Clients read lists and maps without looking whether they are there.
func TestPlanHasNoNullLists(t *testing.T) {
	t.Parallel()
	p, err := plan.Build(parse(t, "SELECT * FROM c"), nil, plan.Container{Paths: [][]string{{"pk"}}, Scheme: epk.HashV2})
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"partitionedQueryExecutionInfoVersion":2,"queryInfo":{"distinctType":"None","top":null,"offset":null,"limit":null,` +
		`"orderBy":[],"orderByExpressions":[],"groupByExpressions":[],"groupByAliases":[],"aggregates":[],` +
		`"groupByAliasToAggregateType":{},"rewrittenQuery":"","hasSelectValue":false,"hasNonStreamingOrderBy":false,"dCountInfo":null},` +
		`"queryRanges":[{"min":"","max":"FF","isMinInclusive":true,"isMaxInclusive":false}]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestMissingFeatures(t *testing.T) {
	t.Parallel()
	p, err := plan.Build(parse(t, "SELECT DISTINCT TOP 2 c.x FROM c ORDER BY c.x, c.y"), nil, plan.Container{Scheme: epk.HashV2})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Missing([]string{"Top", "OrderBy", "HybridSearch"}); !slices.Equal(got, []string{"Distinct", "MultipleOrderBy"}) {
		t.Errorf("missing %q", got)
	}
	if got := p.Missing([]string{"Top", "OrderBy", "Distinct", "MultipleOrderBy"}); len(got) != 0 {
		t.Errorf("missing %q", got)
	}
}
