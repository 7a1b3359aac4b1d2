package plan_test

import (
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/plan"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
)

// Whatever the query, planning it must not fail otherwise than by an error, its ranges must be what clients accept, and
// the rewritten query must be one that the service itself accepts.
func FuzzBuild(f *testing.F) {
	for _, seed := range []string{
		`SELECT * FROM c WHERE c.t = 1 AND c.a.b IN (1, "x") OR IS_NULL(c.t) ORDER BY c.x DESC OFFSET 1 LIMIT 2`,
		`SELECT DISTINCT TOP 3 VALUE c["order"] FROM c.list AS c ORDER BY c["order"]`,
		`SELECT c.x, COUNT(1), AVG(c.y) AS a FROM c WHERE NOT IS_DEFINED(c.t) GROUP BY c.x`,
		`SELECT COUNT(1) AS n FROM (SELECT DISTINCT c.x FROM c)`,
		`SELECT * FROM c["a b"] ORDER BY VectorDistance([1], [2])`,
		`SELECT VALUE {a: (SELECT VALUE COUNT(1) FROM t IN c.tags)} FROM c ORDER BY c.a`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := sql.Parse(text)
		if err != nil {
			return
		}
		p, err := plan.Build(q, nil, twoLevels)
		if err != nil {
			return
		}
		rewritten := strings.ReplaceAll(p.QueryInfo.RewrittenQuery, "{documentdb-formattableorderbyquery-filter}", "true")
		if rewritten != "" {
			if _, err := sql.Parse(rewritten); err != nil {
				t.Fatalf("the rewritten query is refused: %v\n%s", err, rewritten)
			}
		}
		for i, r := range p.QueryRanges {
			if r.Min > r.Max {
				t.Fatalf("a range is upside down: %v", r)
			}
			if i > 0 && p.QueryRanges[i-1].Max > r.Min {
				t.Fatalf("ranges overlap: %v", p.QueryRanges)
			}
		}
	})
}
