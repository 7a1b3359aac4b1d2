package repository_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/layout"
)

// No verb of one tenant touches a document of another, although both lie in one
// logical partition and the id leads there, also where the etag is known.
func TestTenantsThatShareAPartitionNeverMeet(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path   string
		layout layout.Layout
	}{
		"a constant":         {"/pk", layout.Layout{Key: []layout.KeySource{layout.Constant("all")}}},
		"the entity type":    {"/entityType", layout.Layout{}},
		"the id":             {"/id", layout.Layout{}},
		"the id and no type": {"/id", layout.Layout{Untyped: layout.AllUntyped, Envelope: "value"}},
		"no marks":           {"/id", layout.Layout{NoMarks: true, Names: map[string]string{"tenantId": "org"}, IDPrefix: "Note|"}},
		"computed, the same": {"/pk", layout.Layout{Key: []layout.KeySource{layout.Format("%.1s", "tenantId")}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, ctx := emulatortest.New(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil))), t.Context()
			notes, err := repository.New[Note](newContainer(t, e.Client(nil), c.path), repository.Config{PartitionKey: []string{c.path}, Layout: &c.layout})
			must(t, err)
			ours, theirs := notes.In("acme"), notes.In("another")
			for verb, do := range verbsOfAnother() {
				note := noteOf(verb, "")
				must(t, ours.Create(ctx, note))
				before, err := ours.Get(ctx, note.ID)
				must(t, err)
				if err := do(ctx, theirs, note.ID, note.ETag); err == nil {
					t.Errorf("%s succeeded", verb)
				} else if text := fmt.Sprint(err); !errors.Is(err, repository.ErrTenantMismatch) && !errors.Is(err, repository.ErrNotFound) && !errors.Is(err, repository.ErrConflict) && !errors.Is(err, repository.ErrPreconditionFailed) {
					t.Errorf("%s: %s", verb, text)
				}
				after, err := ours.Get(ctx, note.ID)
				if err != nil || !reflect.DeepEqual(before, after) {
					t.Errorf("%s of another tenant made %+v of it, %v", verb, after, err)
				}
				// The tenant's own verbs work as ever.
				if err := do(ctx, ours, note.ID, note.ETag); err != nil && verb != "Create" {
					t.Errorf("%s of its own tenant: %v", verb, err)
				}
			}
		})
	}
}

func noteOf(id, etag string) *Note {
	n := &Note{Title: "kept"}
	n.ID, n.ETag = id, etag
	return n
}

// verbsOfAnother are the verbs on one document whose id and etag a caller was told.
func verbsOfAnother() map[string]func(ctx context.Context, s *repository.Scope[Note], id, etag string) error {
	type notes = *repository.Scope[Note]
	return map[string]func(ctx context.Context, s notes, id, etag string) error{
		"Get":     func(ctx context.Context, s notes, id, _ string) error { _, err := s.Get(ctx, id); return err },
		"GetMany": func(ctx context.Context, s notes, id, _ string) error { _, err := s.GetMany(ctx, id); return err },
		"Create":  func(ctx context.Context, s notes, id, _ string) error { return s.Create(ctx, noteOf(id, "")) },
		"Replace": func(ctx context.Context, s notes, id, etag string) error { return s.Replace(ctx, noteOf(id, etag)) },
		"Save":    func(ctx context.Context, s notes, id, etag string) error { return s.Save(ctx, noteOf(id, etag)) },
		"Upsert":  func(ctx context.Context, s notes, id, _ string) error { return s.Upsert(ctx, noteOf(id, "")) },
		"Mutate": func(ctx context.Context, s notes, id, _ string) error {
			_, err := s.Mutate(ctx, id, func(n *Note) error { n.Count++; return nil })
			return err
		},
		"Patch": func(ctx context.Context, s notes, id, _ string) error {
			_, err := s.Patch(ctx, id, repository.Set("/title", "patched"))
			return err
		},
		"Patch with an etag": func(ctx context.Context, s notes, id, etag string) error {
			_, err := s.Patch(ctx, id, repository.Set("/title", "patched").IfMatch(etag))
			return err
		},
		"Delete": func(ctx context.Context, s notes, id, _ string) error { return s.Delete(ctx, id, nil) },
		"Delete with an etag": func(ctx context.Context, s notes, id, etag string) error {
			return s.Delete(ctx, id, &repository.DeleteOptions{ETag: etag})
		},
		"SaveAll": func(ctx context.Context, s notes, id, etag string) error {
			_, err := s.SaveAll(ctx, slices.Values([]*Note{noteOf(id, etag), noteOf(id+"-own-"+s.Tenant(), "")}), nil)
			return err
		},
		"DeleteAll": func(ctx context.Context, s notes, id, _ string) error {
			_, err := s.DeleteAll(ctx, slices.Values([]string{id}), nil)
			return err
		},
		"DeleteAll of two": func(ctx context.Context, s notes, id, _ string) error {
			other := noteOf(id+"-own-"+s.Tenant(), "")
			if err := s.Create(ctx, other); err != nil {
				return err
			}
			receipt, err := s.DeleteAll(ctx, slices.Values([]string{other.ID, id}), nil)
			if receipt.Items[0].Err != nil {
				return errors.New("its own was not deleted")
			}
			return err
		},
		"Batch.Replace": func(ctx context.Context, s notes, id, etag string) error {
			return s.Batch().Replace(noteOf(id, etag)).Commit(ctx)
		},
		"Batch.Upsert": func(ctx context.Context, s notes, id, _ string) error {
			return s.Batch().Upsert(noteOf(id, "")).Commit(ctx)
		},
		"Batch.Patch": func(ctx context.Context, s notes, id, _ string) error {
			return s.Batch().Patch(id, repository.Increment("/count", 1)).Commit(ctx)
		},
		"Batch.Delete": func(ctx context.Context, s notes, id, etag string) error {
			return s.Batch().Delete(id, etag).Commit(ctx)
		},
	}
}
