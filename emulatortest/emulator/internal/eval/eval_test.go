package eval_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/eval"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// noon is the time in every test: the one of the AGO page of the query reference.
func noon() time.Time { return time.Date(2024, 10, 14, 14, 20, 30, 666_888_800, time.UTC) }

func compile(t testing.TB, text string) *eval.Program {
	t.Helper()
	q, err := sql.Parse(text)
	if err != nil {
		t.Fatalf("parsing %s: %v", text, err)
	}
	p, err := eval.Compile(q)
	if err != nil {
		t.Fatalf("compiling %s: %v", text, err)
	}
	return p
}

// results runs a query over the items, clause by clause, without ORDER BY and paging.
func results(p *eval.Program, env eval.Env, items ...value.Value) ([]value.Value, error) {
	if env.Now == nil {
		env.Now = noon
	}
	run := p.NewRun(context.Background(), env)
	if !p.Scans() {
		items = []value.Value{{}}
	}
	var all []value.Value
	take := func(row eval.Row) bool {
		v, ok, err := row.Value()
		if ok {
			all = append(all, v)
		}
		return err == nil
	}
	if p.Folds() {
		groups := run.Groups()
		for _, item := range items {
			if _, err := groups.Add(item); err != nil {
				return nil, err
			}
		}
		for i := range groups.Len() {
			if !take(groups.Row(i)) {
				break
			}
		}
		return all, run.Err()
	}
	for _, item := range items {
		if err := run.Item(item, take); err != nil {
			return nil, err
		}
	}
	return all, run.Err()
}

func parse(t testing.TB, text string) value.Value {
	t.Helper()
	v, err := value.ParseString(text)
	if err != nil {
		t.Fatalf("bad test data %s: %v", text, err)
	}
	return v
}

// like compares values, numbers to nine digits.
func like(a, b value.Value) bool {
	x, okX := a.Number()
	y, okY := b.Number()
	if okX && okY {
		return x == y || math.Abs(x-y) <= 1e-9*math.Max(math.Abs(x), math.Abs(y))
	}
	as, okX := a.Array()
	bs, okY := b.Array()
	if okX && okY {
		for i := range as {
			if len(as) != len(bs) || !like(as[i], bs[i]) {
				return false
			}
		}
		return len(as) == len(bs)
	}
	am, okX := a.Members()
	bm, okY := b.Members()
	if okX && okY {
		for _, m := range am {
			if !like(m.Value, b.Get(m.Name)) {
				return false
			}
		}
		return len(am) == len(bm)
	}
	return value.Equal(a, b)
}

// expression is a case of the function tables: what SELECT VALUE gives for it, or undefined.
type expression struct {
	text, want string
}

const undefined = "undefined"

func checkExpressions(t *testing.T, cases []expression) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			got, err := results(compile(t, "SELECT VALUE "+c.text), eval.Env{})
			if err != nil {
				t.Fatal(err)
			}
			if c.want == undefined {
				if len(got) != 0 {
					t.Fatalf("got %v, want undefined", got[0])
				}
				return
			}
			if len(got) != 1 {
				t.Fatalf("got undefined, want %s", c.want)
			}
			if want := parse(t, c.want); !like(got[0], want) {
				t.Fatalf("got %v, want %v", got[0], want)
			}
		})
	}
}

func rows(t testing.TB, items ...string) []value.Value {
	t.Helper()
	all := make([]value.Value, len(items))
	for i, text := range items {
		all[i] = parse(t, text)
	}
	return all
}

func show(values []value.Value) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = v.String()
	}
	return strings.Join(texts, " ")
}
