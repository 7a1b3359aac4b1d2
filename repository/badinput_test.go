package repository_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/partition"
	"github.com/cosmosgrove/grove/tenantitem"
)

// verbsByID are all verbs that name a document by its id.
func verbsByID(acme *repository.Scope[Note]) map[string]func(ctx context.Context, id string) error {
	entity := func(id string) *Note {
		return &Note{TenantItem: tenantitem.TenantItem[Note]{Meta: tenantitem.Meta{ID: id}}, Title: "x"}
	}
	withETag := func(id string) *Note { n := entity(id); n.ETag = `"e"`; return n }
	first := func(_ *repository.Receipt, err error) error { return err }
	return map[string]func(ctx context.Context, id string) error{
		"Get":     func(ctx context.Context, id string) error { _, err := acme.Get(ctx, id); return err },
		"GetMany": func(ctx context.Context, id string) error { _, err := acme.GetMany(ctx, "fine", id); return err },
		"Exists":  func(ctx context.Context, id string) error { _, err := acme.Exists(ctx, id); return err },
		"Replace": func(ctx context.Context, id string) error { return acme.Replace(ctx, withETag(id)) },
		"Save":    func(ctx context.Context, id string) error { return acme.Save(ctx, withETag(id)) },
		"Patch": func(ctx context.Context, id string) error {
			_, err := acme.Patch(ctx, id, repository.Set("/title", "y"))
			return err
		},
		"Delete":     func(ctx context.Context, id string) error { return acme.Delete(ctx, id, nil) },
		"PlanDelete": func(ctx context.Context, id string) error { _, err := acme.PlanDelete(ctx, id); return err },
		"Restore":    func(ctx context.Context, id string) error { return acme.Restore(ctx, id) },
		"Purge":      func(ctx context.Context, id string) error { return acme.Purge(ctx, id) },
		"Mutate": func(ctx context.Context, id string) error {
			_, err := acme.Mutate(ctx, id, func(*Note) error { return nil })
			return err
		},
		"Batch": func(ctx context.Context, id string) error {
			return acme.Batch().Create(&Note{}).Replace(withETag(id)).Commit(ctx)
		},
		"Delete in a batch": func(ctx context.Context, id string) error { return acme.Batch().Delete(id, "").Commit(ctx) },
		"Read in a batch":   func(ctx context.Context, id string) error { return acme.Batch().Read(id, &Note{}).Commit(ctx) },
		"Patch in a batch": func(ctx context.Context, id string) error {
			return acme.Batch().Patch(id, repository.Set("/title", "y")).Commit(ctx)
		},
		"SaveAll": func(ctx context.Context, id string) error {
			return first(acme.SaveAll(ctx, slices.Values([]*Note{withETag(id)}), nil))
		},
		"DeleteAll": func(ctx context.Context, id string) error {
			return first(acme.DeleteAll(ctx, slices.Values([]string{id}), nil))
		},
	}
}

// verbsByEntity are all verbs that take a whole entity, which may lack an id.
func verbsByEntity(acme *repository.Scope[Note]) map[string]func(ctx context.Context, n *Note) error {
	return map[string]func(ctx context.Context, n *Note) error{
		"Create":            acme.Create,
		"Upsert":            acme.Upsert,
		"Save":              acme.Save,
		"Replace":           acme.Replace,
		"Create in a batch": func(ctx context.Context, n *Note) error { return acme.Batch().Create(n).Commit(ctx) },
		"Upsert in a batch": func(ctx context.Context, n *Note) error { return acme.Batch().Upsert(n).Commit(ctx) },
		"Save in a batch":   func(ctx context.Context, n *Note) error { return acme.Batch().Save(n).Commit(ctx) },
		"SaveAll": func(ctx context.Context, n *Note) error {
			_, err := acme.SaveAll(ctx, slices.Values([]*Note{n}), nil)
			return err
		},
	}
}

// verbsByScope are all verbs, each with fine arguments, of a scope that is not.
func verbsByScope(s *repository.Scope[Note]) map[string]func(ctx context.Context) error {
	verbs := map[string]func(ctx context.Context) error{
		"Query": func(ctx context.Context) error {
			for _, err := range s.Query(ctx, repository.All()) {
				return err
			}
			return nil
		},
		"Project": func(ctx context.Context) error {
			for _, err := range repository.Project[struct{ Title string }](ctx, &s.Reader, repository.All()) {
				return err
			}
			return nil
		},
		"First": func(ctx context.Context) error { _, err := s.First(ctx, repository.All()); return err },
		"Count": func(ctx context.Context) error { _, err := s.Count(ctx, repository.All()); return err },
		"Page": func(ctx context.Context) error {
			_, err := s.Page(ctx, repository.All(), repository.PageOptions{})
			return err
		},
		"Sum": func(ctx context.Context) error { _, err := s.Sum(ctx, "count", repository.All()); return err },
	}
	for name, do := range verbsByID(s) {
		verbs[name] = func(ctx context.Context) error { return do(ctx, "fine") }
	}
	for name, do := range verbsByEntity(s) {
		verbs[name+" (entity)"] = func(ctx context.Context) error {
			n := &Note{Title: "x"}
			if name == "Replace" {
				n.ID, n.ETag = "fine", `"e"`
			}
			return do(ctx, n)
		}
	}
	return verbs
}

// refused checks that a verb fails with that error before any request.
func refused(t *testing.T, b *noteBundle, what string, want error, do func() error) {
	t.Helper()
	mark := b.emulator.Requests().Mark()
	err := do()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
	if seen := b.emulator.Requests().Since(mark); len(seen) != 0 {
		t.Errorf("%s: %d requests were sent, the first %s", what, len(seen), seen[0].Operation)
	}
}

var badIDs = map[string]string{
	"empty": "", "slash": "a/b", "backslash": `a\b`, "question mark": "a?b", "hash": "a#b", "space at the end": "a ",
	"NUL": "a\x00", "newline": "a\nb", "DEL": "a\x7f", "dots": "..", "percent escape": "a%2Fb",
	"over-long": strings.Repeat("a", 1024), "no UTF-8": "a\xff", "line separator": "a\u2028b",
}

func TestBadIDsAreRefusedByEveryVerb(t *testing.T) {
	t.Parallel()
	b := setupNotes(t)
	for verb, do := range verbsByID(b.acme) {
		for name, id := range badIDs {
			refused(t, b, verb+" with id "+name, repository.ErrInvalid, func() error { return do(t.Context(), id) })
		}
	}
	for verb, do := range verbsByEntity(b.acme) {
		for name, id := range badIDs {
			if id == "" {
				continue // these verbs make one
			}
			refused(t, b, verb+" with id "+name, repository.ErrInvalid, func() error {
				n := &Note{Title: "x"}
				n.ID = id
				if verb == "Replace" {
					n.ETag = `"e"`
				}
				return do(t.Context(), n)
			})
		}
	}
	nothingChanged(t, b)
}

func TestBadTenantsAreRefusedByEveryVerb(t *testing.T) {
	t.Parallel()
	b := setupNotes(t)
	bad := withMore(badIDs, "emoji", "team\U0001f600", "quote and slash", `a"/b`)
	delete(bad, "percent escape") // a key travels in a header, where it means nothing
	for name, tenant := range bad {
		for verb, do := range verbsByScope(b.notes.In(tenant)) {
			refused(t, b, verb+" for tenant "+name, repository.ErrInvalid, func() error { return do(t.Context()) })
		}
	}
	for verb, do := range verbsByScope(b.acme) {
		refused(t, b, verb+" under another tenant's context", repository.ErrTenantMismatch, func() error {
			return do(repository.WithTenant(t.Context(), "globex"))
		})
	}
	for verb, do := range verbsByScope(b.notes.In("acme", "one value too many")) {
		refused(t, b, verb+" with a value too many", repository.ErrInvalid, func() error { return do(t.Context()) })
	}
	for verb, do := range verbsByScope(b.acme) {
		refused(t, b, verb+" under a context that has ended", context.Canceled, func() error {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			return do(ctx)
		})
	}
	nothingChanged(t, b)
}

func TestBadEntitiesAreRefusedByEveryVerb(t *testing.T) {
	t.Parallel()
	b := setupNotes(t)
	entities := map[string]struct {
		make func() *Note
		want error
	}{
		"nil":                 {func() *Note { return nil }, repository.ErrInvalid},
		"another tenant":      {func() *Note { n := &Note{}; n.TenantID = "globex"; return n }, repository.ErrTenantMismatch},
		"another entity type": {func() *Note { n := &Note{}; n.EntityType = "Person"; return n }, repository.ErrInvalid},
		"over 2 MB":           {func() *Note { return &Note{Title: strings.Repeat("x", 2<<20)} }, repository.ErrTooLarge},
		"no UTF-8":            {func() *Note { return &Note{Title: "\xff"} }, repository.ErrInvalid},
	}
	for verb, do := range verbsByEntity(b.acme) {
		for name, e := range entities {
			refused(t, b, verb+" of an entity: "+name, e.want, func() error {
				n := e.make()
				if n != nil && verb == "Replace" {
					n.ID, n.ETag = "fine", `"e"`
				}
				return do(t.Context(), n)
			})
		}
	}
	nothingChanged(t, b)
}

func TestBadArgumentsAreRefused(t *testing.T) {
	t.Parallel()
	b := setupNotes(t)
	ctx, acme := t.Context(), b.acme
	n := &Note{Title: "x"}
	n.ID = "fine"
	eleven := repository.Set("/title", "1")
	for range 10 {
		eleven = eleven.Set("/title", "2")
	}
	tooMany := acme.Batch()
	for range 101 {
		tooMany.Create(&Note{})
	}
	tooLarge := acme.Batch()
	for range 3 {
		tooLarge.Create(&Note{Title: strings.Repeat("x", 900_000)})
	}
	patch := func(e repository.Edits) func() error {
		return func() error { _, err := acme.Patch(ctx, "fine", e); return err }
	}
	query := func(q repository.Query) func() error {
		return func() error {
			for _, err := range acme.Query(ctx, q) {
				return err
			}
			return nil
		}
	}
	page := func(o repository.PageOptions) func() error {
		return func() error { _, err := acme.Page(ctx, repository.All(), o); return err }
	}
	for name, do := range map[string]func() error{
		"Replace without an etag":                func() error { return acme.Replace(ctx, n) },
		"Mutate without a function":              func() error { _, err := acme.Mutate(ctx, "fine", nil); return err },
		"Patch without edits":                    patch(repository.Edits{}),
		"Patch of more than ten":                 patch(eleven),
		"Patch of an unknown field":              patch(repository.Set("/titel", "x")),
		"Patch of a path that is no pointer":     patch(repository.Set("title", "x")),
		"Patch of the id":                        patch(repository.Set("/id", "x")),
		"Patch of the tenant":                    patch(repository.Set("/tenantId", "x")),
		"Patch of the entity type":               patch(repository.Set("/entityType", "x")),
		"Patch of the etag":                      patch(repository.Set("/_etag", "x")),
		"Patch with a value that does not fit":   patch(repository.Set("/title", 5)),
		"Patch that increments a text":           patch(repository.Increment("/title", 1)),
		"Patch with a number that JSON lacks":    patch(repository.Set("/count", math.NaN())),
		"Patch under a condition on no field":    patch(repository.Set("/title", "x").If(repository.Eq("titel", "x"))),
		"Query of an unknown field":              query(repository.Where(repository.Eq("titel", "x"))),
		"Query of another type":                  query(repository.Where(repository.Eq("title", 5))),
		"Query ordered by an unknown field":      query(repository.All().OrderBy("titel")),
		"Query with an empty predicate":          query(repository.Where(repository.Predicate{})),
		"Query with a limit of zero":             query(repository.All().Limit(0)),
		"SQL with an open parenthesis":           query(repository.SQL("(c.title = 'x'")),
		"SQL that closes the scope's own":        query(repository.SQL("true) OR (true")),
		"SQL with a comment":                     query(repository.SQL("true -- ")),
		"SQL with an open quote":                 query(repository.SQL("c.title = 'x")),
		"SQL with a parameter given twice":       query(repository.SQL("c.title = @v", repository.P("v", "x")).AndSQL("c.count = @v", repository.P("v", 1))),
		"SQL with a parameter that has no value": query(repository.SQL("c.title = @t")),
		"SQL with a value that JSON lacks":       query(repository.SQL("c.count = @n", repository.P("n", math.Inf(1)))),
		"Query for a value that JSON lacks":      query(repository.Where(repository.Eq("count", math.NaN()))),
		"Patch of a member named like a way":     patch(repository.Set("/address.city", "x")),
		"Restore where nothing is kept":          func() error { return acme.Restore(ctx, "fine") },
		"Purge where nothing is kept":            func() error { return acme.Purge(ctx, "fine") },
		"Page below zero":                        page(repository.PageOptions{Size: -1}),
		"Page over a thousand":                   page(repository.PageOptions{Size: 1001}),
		"Page with a cursor that is none":        page(repository.PageOptions{Cursor: "nonsense"}),
		"Page with a cursor of another version":  page(repository.PageOptions{Cursor: strings.Repeat("z", 40)}),
		"a batch without operations":             func() error { return acme.Batch().Commit(ctx) },
		"a batch of 101":                         func() error { return tooMany.Commit(ctx) },
		"a batch over 2 MB":                      func() error { return tooLarge.Commit(ctx) },
		"batches of two tenants": func() error {
			return partition.Commit(ctx, acme.Batch().Create(&Note{}), b.notes.In("globex").Batch().Create(&Note{}))
		},
		"no batches at all":                     func() error { return partition.Commit(ctx) },
		"Read in a batch without a destination": func() error { return acme.Batch().Read("fine", nil).Commit(ctx) },
		"SaveAll of nothing":                    func() error { _, err := acme.SaveAll(ctx, nil, nil); return err },
		"DeleteAll of nothing":                  func() error { _, err := acme.DeleteAll(ctx, nil, nil); return err },
	} {
		refused(t, b, name, repository.ErrInvalid, do)
	}
	nothingChanged(t, b)
}

func nothingChanged(t *testing.T, b *noteBundle) {
	t.Helper()
	n, err := b.notes.AllTenants().Count(t.Context(), repository.All())
	must(t, err)
	if n != 0 {
		t.Errorf("%d documents were stored", n)
	}
}

// withMore returns a copy of m with more entries.
func withMore(m map[string]string, more ...string) map[string]string {
	out := map[string]string{}
	for k, v := range m {
		out[k] = v
	}
	for i := 0; i+1 < len(more); i += 2 {
		out[more[i]] = more[i+1]
	}
	return out
}
