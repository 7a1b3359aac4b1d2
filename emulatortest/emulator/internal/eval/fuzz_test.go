package eval_test

import (
	"errors"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/eval"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// FuzzEvaluate runs whatever parses: it may be refused, and never panics, hangs or gives a value that isn't JSON.
func FuzzEvaluate(f *testing.F) {
	item := value.FromObject([]value.Member{
		{Name: "id", Value: value.FromString("żółw")},
		{Name: "n", Value: value.FromNumber(-1.5)},
		{Name: "tags", Value: value.FromArray([]value.Value{value.FromString("x"), value.NullValue(), value.FromBool(true)})},
		{Name: "p", Value: value.FromObject([]value.Member{{Name: "type", Value: value.FromString("Point")}})},
		{Name: "d", Value: value.FromString("2024-02-29T23:59:59.9999999Z")},
	})
	for _, text := range []string{
		`SELECT * FROM c WHERE c.n BETWEEN -2 AND 1 AND c.id LIKE "%[a-z]_" ESCAPE "!"`,
		`SELECT DISTINCT VALUE {a: t, b: ARRAY(SELECT VALUE x FROM x IN c.tags)} FROM c JOIN t IN c.tags`,
		`SELECT c.n, COUNT(1) AS k, MAKESET(c.id) AS s FROM c GROUP BY c.n`,
		`SELECT VALUE DateTimeAdd("mm", 13, DateTimeBin(c.d, "hh", 5)) FROM c`,
		`SELECT VALUE DateTimeFormat(c.d, "yyyy'x'\\d fffff") FROM c`,
		`SELECT VALUE [SUBSTRING(c.id, 1, 2), LASTINDEXOF(c.id, "w", 3), REPLICATE(c.id, 3), StringSplit(c.id, "")] FROM c`,
		`SELECT VALUE ST_DISTANCE({type: "Polygon", coordinates: [[[0, 0], [1, 0], [1, 1], [0, 0]]]}, {type: "LineString", coordinates: [[5, 5], [6, 6]]})`,
		`SELECT VALUE ST_WITHIN({type: "Point", coordinates: [180, 90]}, {type: "Polygon", coordinates: [[[0, 0], [180, 0], [-90, 1], [0, 0]]]})`,
		`SELECT VALUE [1 >>> -1, IntMul(1e18, 1e18), IntBitLeftShift(1, 63), NumberBin(1e308, 1e-308), ARRAY_SLICE([1], -9, 1e300)]`,
		`SELECT VALUE VectorDistance([1, 2], [3, 4], false, {distanceFunction: "dotproduct"})`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := sql.Parse(text)
		if err != nil {
			t.Skip("not a query")
		}
		p, err := eval.Compile(q)
		if err != nil {
			return
		}
		got, err := results(p, eval.Env{Limits: eval.Limits{Rows: 10_000, Text: 1 << 16}}, item)
		var refused *eval.Error
		if err != nil && !errors.As(err, &refused) {
			t.Fatalf("got %v, want an eval.Error", err)
		}
		for _, v := range got {
			if _, err := value.Parse(v.AppendJSON(nil)); err != nil {
				t.Fatalf("the result is no JSON: %v", err)
			}
		}
	})
}
