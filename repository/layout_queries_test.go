package repository_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
)

// noteRow is a part of a note.
type noteRow struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

type noteGroup struct {
	Title string  `json:"title"`
	N     int64   `json:"n" group:"count"`
	Total float64 `json:"total" group:"sum,field=count"`
}

type idGroup struct {
	ID string `json:"id"`
	N  int64  `json:"n" group:"count"`
}

// queriesOfNotes are queries that say what they find as text.
func queriesOfNotes() map[string]func(ctx context.Context, s *repository.Scope[Note]) (any, error) {
	type notes = *repository.Scope[Note]
	ids := func(q repository.Query) func(ctx context.Context, s notes) (any, error) {
		return func(ctx context.Context, s notes) (any, error) {
			var out []string
			for n, err := range s.Query(ctx, q) {
				if err != nil {
					return nil, err
				}
				out = append(out, n.ID)
			}
			return out, nil
		}
	}
	pages := func(q repository.Query, size int) func(ctx context.Context, s notes) (any, error) {
		return func(ctx context.Context, s notes) (any, error) {
			var out []string
			for cursor, more := "", true; more; more = cursor != "" {
				page, err := s.Page(ctx, q, repository.PageOptions{Size: size, Cursor: cursor})
				if err != nil {
					return nil, err
				}
				for _, n := range page.Items {
					out = append(out, n.ID)
				}
				cursor = page.Cursor
			}
			return out, nil
		}
	}
	where := func(p repository.Predicate) repository.Query { return repository.Where(p).OrderBy("id") }
	return map[string]func(ctx context.Context, s notes) (any, error){
		"by id":             ids(repository.All().OrderBy("id")),
		"by id, descending": ids(repository.All().OrderByDesc("id").Limit(4)),
		"ids above":         ids(where(repository.Gt("id", "note3"))),
		"ids between":       ids(where(repository.And(repository.Gte("id", "note2"), repository.Lt("id", "note5")))),
		"ids that are not":  ids(where(repository.Ne("id", "note3"))),
		"ids of a list":     ids(where(repository.In("id", "note3", "note9", "note1"))),
		"ids that begin":    ids(where(repository.StartsWith("id", "note1"))),
		"ids that contain":  ids(where(repository.Contains("tags", "even"))),
		"nested":            ids(where(repository.Eq("address.city", "Rome"))),
		"absent":            ids(where(repository.Not(repository.Exists("address")))),
		"SQL":               ids(repository.SQL("c.address.city = @c OR ARRAY_CONTAINS(c.tags, 'even')", repository.P("c", "Rome")).OrderBy("id")),
		"SQL, a subquery":   ids(repository.SQL("EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t = 'odd')").OrderBy("id")),
		"pages by id":       pages(repository.All().OrderBy("id"), 3),
		"first": func(ctx context.Context, s notes) (any, error) {
			n, err := s.First(ctx, where(repository.Gt("count", 2)))
			return n != nil && n.ID != "" && n.Count > 2, err
		},
		"count": func(ctx context.Context, s notes) (any, error) {
			return s.Count(ctx, repository.Where(repository.Gt("count", 2)))
		},
		"sum":     func(ctx context.Context, s notes) (any, error) { return s.Sum(ctx, "count", repository.All()) },
		"average": func(ctx context.Context, s notes) (any, error) { return s.Avg(ctx, "count", repository.All()) },
		"several by their id": func(ctx context.Context, s notes) (any, error) {
			found, err := s.GetMany(ctx, "note5", "note2")
			return fmt.Sprint(len(found), found[0].ID, found[1].ID), err
		},
		"projected": func(ctx context.Context, s notes) (any, error) {
			var out []noteRow
			for row, err := range repository.Project[noteRow](ctx, &s.Reader, repository.All().OrderByDesc("id").Limit(3)) {
				if err != nil {
					return nil, err
				}
				out = append(out, row)
			}
			return out, nil
		},
		"distinct": func(ctx context.Context, s notes) (any, error) {
			out := map[string]bool{}
			for v, err := range repository.Distinct[string](ctx, &s.Reader, "title", repository.All()) {
				if err != nil {
					return nil, err
				}
				out[v] = true
			}
			return out, nil
		},
		"distinct ids": func(ctx context.Context, s notes) (any, error) {
			out := map[string]bool{}
			for v, err := range repository.Distinct[string](ctx, &s.Reader, "id", repository.All()) {
				if err != nil {
					return nil, err
				}
				out[v] = true
			}
			return out, nil
		},
		"least": func(ctx context.Context, s notes) (any, error) { return s.Min(ctx, "count", repository.All()) },
		"groups": func(ctx context.Context, s notes) (any, error) {
			out := map[string]noteGroup{}
			for g, err := range repository.GroupBy[noteGroup](ctx, &s.Reader, repository.Where(repository.Gt("id", "note1"))) {
				if err != nil {
					return nil, err
				}
				out[g.Title] = g
			}
			return out, nil
		},
		"groups by id": func(ctx context.Context, s notes) (any, error) {
			out := map[string]int64{}
			for g, err := range repository.GroupBy[idGroup](ctx, &s.Reader, repository.All()) {
				if err != nil {
					return nil, err
				}
				out[g.ID] = g.N
			}
			return out, nil
		},
	}
}

// Every query finds the same in every form.
func TestQueriesFindTheSameInEveryLayout(t *testing.T) {
	t.Parallel()
	found := map[string]map[string]any{}
	for name, form := range modelLayouts() {
		e, ctx := emulatortest.New(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)), emulatortest.WithPartitions(2)), t.Context()
		repo := newRepository(t, newContainer(t, e.Client(nil), form.paths...), repository.Config{PartitionKey: form.paths, Layout: form.layout})
		var notes *repository.Scope[Note]
		if form.layout != nil && form.layout.Global {
			notes = repo.Global()
		} else {
			notes = repo.In("acme")
			must(t, repo.In("globex").Create(ctx, noteOf("stranger", "")))
		}
		for i := range 12 {
			n := noteOf(fmt.Sprint("note", i), "")
			n.Title, n.Count, n.Tags = fmt.Sprint("title ", i%3), int64(i*7%5), []string{[]string{"even", "odd"}[i%2]}
			if i%4 > 0 {
				n.Address = &Address{City: []string{"Rome", "Bonn", "Oslo"}[i%3]}
			}
			must(t, notes.Create(ctx, n))
		}
		found[name] = map[string]any{}
		for query, run := range queriesOfNotes() {
			have, err := run(ctx, notes)
			if err != nil {
				t.Errorf("%s, %s: %v", name, query, err)
			}
			found[name][query] = have
		}
	}
	for name, of := range found {
		for query, have := range of {
			if want := found["Grove's"][query]; !reflect.DeepEqual(have, want) {
				t.Errorf("%s, %s: %v, want %v", name, query, have, want)
			}
		}
	}
}
