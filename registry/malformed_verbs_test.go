package registry_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
)

// verbTrial is a verb that is tried on a malformed document.
type verbTrial[T any] struct {
	do func(ctx context.Context, s *repository.Scope[T], id, etag string) error
	// drops says that members of others go: the verb overwrites or removes the
	// document.
	drops bool
	// named says that the verb is given the document's etag, which is taken for
	// proof of its type.
	named bool
	// many says that the verb is about more than the one document.
	many bool
}

// verbTrials are all verbs of a scope; fresh makes an entity with that id.
func verbTrials[T any](fresh func(id, etag string) *T) map[string]verbTrial[T] {
	return map[string]verbTrial[T]{
		"Get": {do: func(ctx context.Context, s *repository.Scope[T], id, _ string) error {
			_, err := s.Get(ctx, id)
			return err
		}},
		"GetMany": {do: func(ctx context.Context, s *repository.Scope[T], id, _ string) error {
			_, err := s.GetMany(ctx, id)
			return err
		}},
		"Exists": {do: func(ctx context.Context, s *repository.Scope[T], id, _ string) error {
			_, err := s.Exists(ctx, id)
			return err
		}},
		"Create": {do: func(ctx context.Context, s *repository.Scope[T], id, _ string) error {
			return s.Create(ctx, fresh(id, ""))
		}},
		"Replace": {do: func(ctx context.Context, s *repository.Scope[T], id, etag string) error {
			return s.Replace(ctx, fresh(id, etag))
		}, drops: true, named: true},
		"Save": {do: func(ctx context.Context, s *repository.Scope[T], id, etag string) error {
			return s.Save(ctx, fresh(id, etag))
		}, drops: true, named: true},
		"Upsert": {do: func(ctx context.Context, s *repository.Scope[T], id, _ string) error {
			return s.Upsert(ctx, fresh(id, ""))
		}, drops: true},
		"Mutate": {do: func(ctx context.Context, s *repository.Scope[T], id, _ string) error {
			_, err := s.Mutate(ctx, id, func(*T) error { return nil })
			return err
		}},
		"Patch": {do: func(ctx context.Context, s *repository.Scope[T], id, _ string) error {
			_, err := s.Patch(ctx, id, repository.Set("/"+textField[T](), "patched"))
			return err
		}},
		"PlanDelete": {do: func(ctx context.Context, s *repository.Scope[T], id, _ string) error {
			_, err := s.PlanDelete(ctx, id)
			return err
		}},
		"Delete":  {do: func(ctx context.Context, s *repository.Scope[T], id, _ string) error { return s.Delete(ctx, id, nil) }, drops: true},
		"Restore": {do: func(ctx context.Context, s *repository.Scope[T], id, _ string) error { return s.Restore(ctx, id) }},
		"Purge":   {do: func(ctx context.Context, s *repository.Scope[T], id, _ string) error { return s.Purge(ctx, id) }, drops: true},
		"SaveAll": {do: func(ctx context.Context, s *repository.Scope[T], id, etag string) error {
			_, err := s.SaveAll(ctx, slices.Values([]*T{fresh(id, etag)}), nil)
			return err
		}, drops: true, named: true},
		"DeleteAll": {do: func(ctx context.Context, s *repository.Scope[T], id, _ string) error {
			_, err := s.DeleteAll(ctx, slices.Values([]string{id}), nil)
			return err
		}, drops: true},
		"Batch.Patch": {do: func(ctx context.Context, s *repository.Scope[T], id, _ string) error {
			return s.Batch().Patch(id, repository.Set("/"+textField[T](), "patched")).Commit(ctx)
		}},
		"Batch.Delete": {do: func(ctx context.Context, s *repository.Scope[T], id, _ string) error {
			return s.Batch().Delete(id, "").Commit(ctx)
		}, drops: true},
		"Query": {many: true, do: func(ctx context.Context, s *repository.Scope[T], _, _ string) error {
			return drain(s.Query(ctx, repository.All()))
		}},
		"Page": {many: true, do: func(ctx context.Context, s *repository.Scope[T], _, _ string) error {
			_, err := s.Page(ctx, repository.All(), repository.PageOptions{Size: 10})
			return err
		}},
		"First": {many: true, do: func(ctx context.Context, s *repository.Scope[T], _, _ string) error {
			_, err := s.First(ctx, repository.All().OrderBy("id"))
			return err
		}},
		"Count": {many: true, do: func(ctx context.Context, s *repository.Scope[T], _, _ string) error {
			_, err := s.Count(ctx, repository.All())
			return err
		}},
		"Project": {many: true, do: func(ctx context.Context, s *repository.Scope[T], _, _ string) error {
			return drain(repository.Project[struct {
				ID string `json:"id"`
			}](ctx, &s.Reader, repository.All()))
		}},
		"Distinct": {many: true, do: func(ctx context.Context, s *repository.Scope[T], _, _ string) error {
			return drain(repository.Distinct[any](ctx, &s.Reader, textField[T](), repository.All()))
		}},
	}
}

// textField is a field of the two entities.
func textField[T any]() string {
	if _, ok := any(new(T)).(*Note); ok {
		return "title"
	}
	return "body"
}

// drain reads on behind the errors of single documents.
func drain[V any](rows iter.Seq2[V, error]) error {
	var all []error
	for _, err := range rows {
		all = append(all, err)
	}
	return errors.Join(all...)
}

// Each verb on each malformed document: it works, or says which document it is; what
// is refused is not changed; members of others survive what is not an
// overwrite; and the document that is fine stays so.
func TestEachVerbOnEachMalformedDocument(t *testing.T) {
	t.Parallel()
	for name, form := range storedForms() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testMalformedVerbs(t, form, form.open(t, emulatortest.New(t, emulatortest.Calm()).Client(nil)))
		})
	}
}

func testMalformedVerbs(t *testing.T, form storedForm, e estate) {
	note := func(id, etag string) *Note {
		n := &Note{Title: "fresh"}
		n.ID, n.ETag = id, etag
		return n
	}
	for id, members := range malformedDocuments() {
		entityType := typeIn(members)
		if entityType != "Comment" {
			for name, verb := range verbTrials(note) {
				tryMalformed(t, form, e, e.notes, name, verb, id, members, entityType == "Note" || entityType == "" && form.untyped)
			}
			continue
		}
		comment := func(id, etag string) *Comment {
			c := &Comment{Body: "fresh"}
			c.ID, c.ETag, c.ParentID = id, etag, "fine"
			return c
		}
		for name, verb := range verbTrials(comment) {
			tryMalformed(t, form, e, e.comments.Items(), name, verb, id, members, true)
		}
	}
}

func typeIn(members string) string {
	_, rest, has := strings.Cut(members, `"entityType":"`)
	if !has {
		return ""
	}
	entityType, _, _ := strings.Cut(rest, `"`)
	return entityType
}

// tryMalformed tries one verb on one document, in a tenant of its own. Known says
// that the document is of the repository's entity type.
func tryMalformed[T any](t *testing.T, form storedForm, e estate, repo *repository.Repository[T], name string, verb verbTrial[T], id, members string, known bool) {
	t.Helper()
	ctx := t.Context()
	tenant := fmt.Sprintf("%s %s %s", repo.EntityType(), strings.ReplaceAll(name, ".", " "), id)
	if form.byID {
		id = tenant // ids are shared by all tenants
	}
	fine := &Note{Title: "fine"}
	fine.ID = "fine of " + tenant
	must(t, e.notes.In(tenant).Create(ctx, fine))
	malformed := form.put(t, e, tenant, id, `"secret":"hush",`+members)

	err := verb.do(ctx, repo.In(tenant), id, malformed.etag)
	text := fmt.Sprint(err)
	switch {
	case err == nil:
	case strings.Contains(text, "hush") || strings.Contains(text, "170000000"):
		t.Errorf("%s of %s tells what stands in it: %v", name, id, err)
	case !strings.Contains(text, id):
		t.Errorf("%s does not name %s: %v", name, id, err)
	}
	after, there := malformed.read(t)
	if !there && (!known || err != nil || !verb.drops) {
		t.Errorf("%s: %s is gone (%v)", name, id, err)
	}
	if there {
		switch {
		case !known && verb.named && form.shared && err == nil:
		case !known || err != nil && !strings.Contains(text, "was applied") || verb.many:
			if !reflect.DeepEqual(after, malformed.stored) {
				t.Errorf("%s changed %s, which it had no business with or refused (%v)", name, id, err)
			}
		case !verb.drops && !strings.Contains(fmt.Sprint(after), "secret:hush"):
			t.Errorf("%s lost a member of %s", name, id)
		}
	}
	if got, err := e.notes.In(tenant).Get(ctx, fine.ID); err != nil || got.Title != "fine" {
		t.Errorf("%s of %s: the document that is fine is %v, %v", name, id, got, err)
	}
}
