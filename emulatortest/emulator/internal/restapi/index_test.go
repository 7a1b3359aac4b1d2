package restapi

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/query"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// twin is two containers with the same documents: one whose queries build indexes however few documents there are, and one
// whose queries always scan.
type twin struct {
	now              time.Time
	indexed, scanned *store.Container
	account          *store.Account // of indexed
}

func newTwin(t rapid.TB, partitions int, policy string) *twin {
	w := &twin{now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
	for from, c := range map[int]**store.Container{1: &w.indexed, -1: &w.scanned} {
		account := store.New(store.Options{Now: func() time.Time { return w.now }, Partitions: partitions, IndexFrom: from})
		if from == 1 {
			w.account = account
		}
		db, err := account.CreateDatabase([]byte(`{"id":"db"}`), store.Throughput{})
		if err != nil {
			t.Fatal(err)
		}
		if *c, err = db.CreateContainer([]byte(`{"id":"c","partitionKey":{"paths":["/pk"]},"defaultTtl":-1,"indexingPolicy":`+policy+`}`), store.Throughput{}); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// both does the same to both containers, which must answer alike.
func (w *twin) both(t rapid.TB, do func(*store.Container) string) {
	if a, b := do(w.indexed), do(w.scanned); a != b {
		t.Fatalf("with indexes: %s\nwithout: %s", a, b)
	}
}

const anyPolicy = `{"indexingMode":"consistent","includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/hidden/?"}],"compositeIndexes":[` +
	`[{"path":"/a","order":"ascending"},{"path":"/b","order":"ascending"}],[{"path":"/a","order":"ascending"},{"path":"/b","order":"descending"}]]}`

func drawValue(deep bool) *rapid.Generator[string] {
	scalars := rapid.SampledFrom([]string{
		"null", "true", "false", "0", "-0", "1", "2", "2.5", "-3", "1e20", `""`, `"a"`, `"ab"`, `"abc"`, `"b"`, `"\u00e9"`, `"\ue000"`, `"\ud83d\ude00"`, `"a\"b"`,
	})
	if !deep {
		return scalars
	}
	return rapid.OneOf(scalars, scalars, scalars, rapid.SampledFrom([]string{`[]`, `[1]`, `["a","b"]`, `[1,[2]]`, `{}`, `{"x":1}`, `{"x":"a"}`, `[{"x":1},"a"]`, `[null,null]`}))
}

func drawDocument(t *rapid.T) (pk string, body []byte) {
	pk = rapid.SampledFrom([]string{"p", "q", "r"}).Draw(t, "pk")
	b := fmt.Appendf(nil, `{"id":"%d","pk":%q`, rapid.IntRange(0, 30).Draw(t, "id"), pk)
	for _, name := range []string{"a", "b", "tags", "n", "hidden"} {
		if rapid.IntRange(0, 4).Draw(t, "has") > 0 {
			b = fmt.Appendf(b, `,%q:%s`, name, drawValue(true).Draw(t, name))
		}
	}
	if rapid.IntRange(0, 9).Draw(t, "expires") == 0 {
		b = append(b, `,"ttl":5`...)
	}
	return pk, append(b, '}')
}

func drawCondition(t *rapid.T, depth int) string {
	path := rapid.SampledFrom([]string{"c.a", "c.a", "c.b", "c.tags", "c.n.x", "c.hidden", "c.id", "c._ts", `c["a"]`, "c.tags[0]", "c.none"}).Draw(t, "path")
	constant := func() string {
		return rapid.OneOf(drawValue(true), rapid.SampledFrom([]string{"@p", "@none", "undefined"})).Draw(t, "constant")
	}
	switch n := rapid.IntRange(0, 13).Draw(t, "condition"); {
	case n == 0 && depth > 0:
		return "(" + drawCondition(t, depth-1) + " OR " + drawCondition(t, depth-1) + ")"
	case n == 1 && depth > 0:
		return "(" + drawCondition(t, depth-1) + " AND " + drawCondition(t, depth-1) + ")"
	case n == 2 && depth > 0:
		return "NOT (" + drawCondition(t, depth-1) + ")"
	case n == 3:
		return path + " IN (" + constant() + ", " + constant() + ")"
	case n == 4:
		return path + " BETWEEN " + constant() + " AND " + constant()
	case n == 5:
		return path + " LIKE " + rapid.SampledFrom([]string{`"a%"`, `"%b"`, `"a_c"`, `"ab"`, `"[ab]%"`, `"%"`, `""`}).Draw(t, "pattern")
	case n == 6:
		return "STARTSWITH(" + path + ", " + rapid.SampledFrom([]string{`"a"`, `"ab"`, `""`, `"A", true`, `"a", false`, `"\ud83d\ude00"`, "1", "@p"}).Draw(t, "start") + ")"
	case n == 7:
		return "ARRAY_CONTAINS(" + path + ", " + constant() + rapid.SampledFrom([]string{"", "", ", true"}).Draw(t, "partial") + ")"
	case n == 8:
		return "ARRAY_CONTAINS(@list, " + path + ")"
	case n == 9:
		return rapid.SampledFrom([]string{"IS_NULL", "IS_STRING", "IS_NUMBER", "IS_ARRAY", "IS_OBJECT", "IS_BOOL", "IS_DEFINED"}).Draw(t, "test") + "(" + path + ")"
	case n == 10:
		return path
	case n == 11:
		return constant() + " " + rapid.SampledFrom([]string{"=", "<", "<=", ">", ">=", "!="}).Draw(t, "operator") + " " + path
	}
	return path + " " + rapid.SampledFrom([]string{"=", "=", "=", "<", "<=", ">", ">=", "!="}).Draw(t, "operator") + " " + constant()
}

func drawQuery(t *rapid.T) string {
	where := ""
	if rapid.IntRange(0, 3).Draw(t, "filters") > 0 {
		where = " WHERE " + drawCondition(t, 2)
		if rapid.Bool().Draw(t, "more") {
			where += " AND " + drawCondition(t, 1)
		}
	}
	order := rapid.SampledFrom([]string{
		"", "", " ORDER BY c.a", " ORDER BY c.a DESC", " ORDER BY c.a, c.b", " ORDER BY c.a DESC, c.b", " ORDER BY c.a DESC, c.b DESC", " ORDER BY c.n.x DESC", " ORDER BY c._ts",
	}).Draw(t, "order")
	limit := rapid.SampledFrom([]string{"", "", " OFFSET 2 LIMIT 7"}).Draw(t, "limit")
	form := rapid.SampledFrom([]string{
		"SELECT * FROM c", "SELECT * FROM c", "SELECT TOP 5 c.id FROM c", "SELECT VALUE c.b FROM c", "SELECT DISTINCT VALUE c.a FROM c",
		"SELECT c.id, t FROM c JOIN t IN c.tags", "SELECT VALUE COUNT(1) FROM c", "SELECT VALUE [COUNT(c), COUNT(1)] FROM c",
		"SELECT c.a, COUNT(1) AS n FROM c",
	}).Draw(t, "form")
	switch {
	case strings.Contains(form, "TOP"):
		return form + where + order
	case strings.HasPrefix(form, "SELECT VALUE COUNT"), strings.HasPrefix(form, "SELECT VALUE ["):
		return form + where
	case strings.Contains(form, "AS n"):
		return form + where + " GROUP BY c.a"
	}
	return form + where + order + limit
}

// page runs one page the way the REST API does.
func page(c *store.Container, pages *query.PageCache, scope store.Scope, text, token string, size int, now time.Time) (query.Page, error) {
	q, err := sql.Parse(text)
	if err != nil {
		return query.Page{}, err
	}
	parameters := map[string]value.Value{"@p": value.FromString("a"), "@list": value.FromArray([]value.Value{value.FromNumber(1), value.FromString("ab"), value.NullValue()})}
	policy := query.ParsePolicy(c.Definition().Properties.Get("indexingPolicy"))
	scope.Indexes = query.PlanAccess(q, parameters, policy, nil).Orders()
	snapshot, err := c.Snapshot(scope, "")
	if err != nil {
		return query.Page{}, err
	}
	return query.Run(context.Background(), query.Request{
		Query: q, Parameters: parameters, Source: snapshotSource{snapshot}, Identity: "c", Continuation: token, MaxItems: size,
		Policy: policy, Pages: pages, Now: func() time.Time { return now },
	})
}

// TestIndexesChangeNoResult runs random queries page by page in two containers with the same documents, one that uses
// indexes and keeps what follows a page, and one that scans, while documents are written, expire, split apart and are seen late. Every page must have the
// same rows in the same order, and each goes on from the token of either.
func TestIndexesChangeNoResult(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := newTwin(rt, rapid.IntRange(1, 3).Draw(rt, "partitions"), anyPolicy)
		write := func() {
			pk, body := drawDocument(rt)
			hide := rapid.IntRange(0, 40).Draw(rt, "hide") == 0
			remove := rapid.IntRange(0, 5).Draw(rt, "remove") == 0
			w.both(rt, func(c *store.Container) string {
				call := store.Call{Key: store.Key{epk.String(pk)}, Unindexed: hide}
				if remove {
					r, err := c.DeleteItem(call, "7")
					return fmt.Sprint(r.Status, err)
				}
				r, err := c.UpsertItem(call, body)
				return fmt.Sprint(r.ETag, err)
			})
		}
		disturb := func() {
			switch rapid.IntRange(0, 9).Draw(rt, "disturbance") {
			case 0, 1, 2:
				write()
			case 3:
				w.now = w.now.Add(2 * time.Second)
			case 4:
				w.both(rt, func(c *store.Container) string {
					ranges, _ := c.Ranges()
					_, err := c.Split(ranges[0].ID)
					return fmt.Sprint(err)
				})
			case 5:
				lag := time.Duration(rapid.IntRange(-1, 2).Draw(rt, "lag")) * time.Second
				w.both(rt, func(c *store.Container) string { c.SetReplicaLag(lag); return "" })
			}
		}
		cache := query.NewPageCache(rapid.SampledFrom([]int{0, 0, 1_000, 5_000}).Draw(rt, "cache"))
		for range rapid.IntRange(0, 60).Draw(rt, "documents") {
			write()
		}
		for range rapid.IntRange(1, 6).Draw(rt, "queries") {
			scope := store.Scope{}
			switch rapid.IntRange(0, 3).Draw(rt, "scope") {
			case 0, 1:
				scope.Key = store.Key{epk.String(rapid.SampledFrom([]string{"p", "q"}).Draw(rt, "key"))}
			case 2:
				scope.MinEPK, scope.MaxEPK = "10", "30"
			}
			text, size := drawQuery(rt), rapid.SampledFrom([]int{1, 2, 3, 7, 50, -1}).Draw(rt, "size")
			scope.Behind = rapid.SampledFrom([]int{0, 0, 0, 1, 3}).Draw(rt, "behind")
			for token, pages := "", 0; pages < 100; pages++ {
				with, err := page(w.indexed, cache, scope, text, token, size, w.now)
				without, errWithout := page(w.scanned, nil, scope, text, token, size, w.now)
				if (err == nil) != (errWithout == nil) {
					rt.Fatalf("%s: with indexes %v, without %v", text, err, errWithout)
				}
				if err != nil {
					break
				}
				if a, b := fmt.Sprintf("%s", with.Documents), fmt.Sprintf("%s", without.Documents); a != b {
					rt.Fatalf("%s, page %d of %d rows: with indexes\n%s\nwithout\n%s", text, pages, size, a, b)
				}
				if (with.Continuation == "") != (without.Continuation == "") {
					rt.Fatalf("%s, page %d: the token is %q with indexes and %q without", text, pages, with.Continuation, without.Continuation)
				}
				if token = with.Continuation; rapid.Bool().Draw(rt, "token of the scan") {
					token = without.Continuation
				}
				if token == "" {
					break
				}
				if rapid.IntRange(0, 2).Draw(rt, "disturb") == 0 {
					disturb()
				}
			}
			disturb()
		}
	})
}
