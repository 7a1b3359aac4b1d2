package repository_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/repository"
)

// malformedMembers are what another writer may leave in a document that a Job can't
// hold.
func malformedMembers() map[string]string {
	return map[string]string{
		"text in a number":  `,"big":"secret"`,
		"a fraction":        `,"big":1.5`,
		"past 2^53":         `,"big":1.152921504606847e+18`,
		"not in range":      `,"small":256`,
		"no time":           `,"due":"secret"`,
		"a key of a map":    `,"byName":{"secret":"x"}`,
		"an element":        `,"steps":[{"id":"a","hour":"secret"}]`,
		"a nested object":   `,"address":{"city":{"secret":1}}`,
		"a lone surrogate":  `,"address":{"city":"\ud800"}`,
		"its Meta":          `,"ttl":"secret"`,
		"a number for true": `,"flag":1`,
	}
}

func TestOneMalformedDocumentHidesNoOther(t *testing.T) {
	t.Parallel()
	for name, members := range malformedMembers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, ctx := setupJobs(t), t.Context()
			for _, id := range []string{"a", "c"} {
				must(t, b.jobs.Create(ctx, job(id)))
			}
			b.store(t, "b", `,"price":0`+members)
			isUndecodable := func(err error) bool {
				var undecodable *repository.DecodeError
				return errors.As(err, &undecodable) && undecodable.ID == "b" && !strings.Contains(err.Error(), "secret") && !repository.IsRetryable(err)
			}
			prefix := b.jobs
			for how, q := range map[string]repository.Query{
				"unordered": repository.All(), "ordered": repository.All().OrderBy("id"), "where": repository.Where(repository.Exists("price")),
			} {
				var ids []string
				var failed error
				for n, err := range prefix.Query(ctx, q) {
					if err != nil {
						failed = errors.Join(failed, err)
						continue
					}
					ids = append(ids, n.ID)
				}
				if slices.Sort(ids); !slices.Equal(ids, []string{"a", "c"}) || !isUndecodable(failed) {
					t.Errorf("Query, %s: %v, %v", how, ids, failed)
				}
			}
			page, err := b.jobs.Page(ctx, repository.All().OrderBy("id"), repository.PageOptions{Size: 2})
			if page == nil || len(page.Items) != 1 || page.Cursor == "" || !isUndecodable(err) {
				t.Fatalf("Page: %+v, %v", page, err)
			}
			page, err = b.jobs.Page(ctx, repository.All().OrderBy("id"), repository.PageOptions{Size: 2, Cursor: page.Cursor})
			if err != nil || len(page.Items) != 1 || page.Items[0].ID != "c" {
				t.Errorf("next Page: %+v, %v", page, err)
			}
			if many, err := b.jobs.GetMany(ctx, "a", "b", "c"); len(many) != 2 || !isUndecodable(err) || errors.Is(err, repository.ErrNotFound) {
				t.Errorf("GetMany: %d, %v", len(many), err)
			}
			first := func(q repository.Query) error { _, err := b.jobs.First(ctx, q); return err }
			for how, err := range map[string]error{
				"Get":     func() error { _, err := b.jobs.Get(ctx, "b"); return err }(),
				"First":   first(repository.Where(repository.Gte("id", "b")).OrderBy("id")),
				"by id":   first(repository.Where(repository.Eq("id", "b"))),
				"Mutate":  func() error { _, err := b.jobs.Mutate(ctx, "b", func(*Job) error { return nil }); return err }(),
				"in time": func() error { _, err := b.jobs.Patch(ctx, "b", repository.Set("/price", 5)); return err }(),
			} {
				if !isUndecodable(err) {
					t.Errorf("%s: %v", how, err)
				}
			}
			if got := b.stored(t, "b")["price"]; got != 5.0 {
				t.Errorf("the patch was not applied: %v", got)
			}
			if ok, err := b.jobs.Exists(ctx, "b"); name != "its Meta" && !ok && !isUndecodable(err) {
				t.Errorf("Exists: %v, %v", ok, err)
			}
			must(t, b.jobs.Delete(ctx, "b", nil))
			if n, err := b.jobs.Count(ctx, repository.All()); n != 2 || err != nil {
				t.Errorf("%d are left: %v", n, err)
			}
		})
	}
}

func TestProjectGoesOnBehindAnOddDocument(t *testing.T) {
	t.Parallel()
	b, ctx := setupJobs(t), t.Context()
	for _, id := range []string{"a", "c"} {
		must(t, b.jobs.Create(ctx, job(id)))
	}
	b.store(t, "b", `,"big":"secret"`)
	type view struct {
		Big int64 `json:"big"`
	}
	for how, q := range map[string]repository.Query{"unordered": repository.All(), "ordered": repository.All().OrderByDesc("id")} {
		n := 0
		var undecodable *repository.DecodeError
		for _, err := range repository.Project[view](ctx, &b.jobs.Reader, q) {
			switch {
			case err == nil:
				n++
			case !errors.As(err, &undecodable):
				t.Fatal(err)
			}
		}
		if n != 2 || undecodable == nil || undecodable.ID != "b" {
			t.Errorf("%s: %d rows, %v", how, n, undecodable)
		}
	}
}

// What stands in Grove's own members belongs to the document alone, too.
func TestForeignMarksBreakNothing(t *testing.T) {
	t.Parallel()
	for _, members := range []string{`,"_ops":5`, `,"_ops":{"a":1},"_op":[1]`, `,"_ops":[1,"x"]`, `,"_op":"\ud800"`, `,"_links":7,"_moved":"x","_deletion":"x"`} {
		b, ctx := setupJobs(t), t.Context()
		b.store(t, "n", members)
		_, err := b.jobs.Mutate(ctx, "n", func(n *Job) error { n.Price = 1; return nil })
		must(t, err)
		b.store(t, "n", members)
		_, err = b.jobs.Patch(ctx, "n", repository.Increment("/small", 1))
		must(t, err)
		b.store(t, "n", members)
		n, err := b.jobs.First(ctx, repository.All())
		must(t, err)
		must(t, b.jobs.Replace(ctx, n))
		b.store(t, "n", members)
		must(t, b.jobs.Upsert(ctx, n))
		b.store(t, "n", members)
		must(t, b.jobs.Delete(ctx, "n", nil))
	}
}

func TestOddRowOfAnotherTenantIsNoRow(t *testing.T) {
	t.Parallel()
	b := setupJobs(t)
	b.store(t, "n", `,"big":"x"`)
	for _, err := range b.jobs.Query(t.Context(), repository.SQL("c.id = @id", repository.P("id", "n"))) {
		if !errors.As(err, new(*repository.DecodeError)) || strings.Contains(fmt.Sprintf("%+v", err), "\"x\"") {
			t.Errorf("%v", err)
		}
	}
}
