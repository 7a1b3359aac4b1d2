package repository_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/layout"
	"github.com/cosmosgrove/grove/tenantitem"
)

// shadow is what the model believes to be stored.
type shadow struct {
	title string
	count int64
	etag  string
}

// modelLayouts are the forms in which the model's documents are stored; keys
// are those of the container.
func modelLayouts() map[string]struct {
	paths     []string
	layout    *layout.Layout
	scattered bool // over logical partitions, which a batch can't span
} {
	type form = struct {
		paths     []string
		layout    *layout.Layout
		scattered bool
	}
	return map[string]form{
		"Grove's":               {paths: []string{"/tenantId", "/entityType"}},
		"the tenant and the id": {paths: []string{"/tenantId", "/id"}, scattered: true},
		"an envelope, ids with a prefix": {[]string{"/org/id"}, &layout.Layout{
			Key:      []layout.KeySource{layout.FromTenant()},
			Names:    map[string]string{"tenantId": "customer", "entityType": "$type", "title": "Title", "count": "title", "_ops": "writes", "_op": "write", "deletedAt": "deleted_at"},
			Envelope: "value", IDPrefix: "Note|",
		}, false},
		"a key of three levels": {[]string{"/kind", "/where/tenant", "/bucket"}, &layout.Layout{
			Key:     []layout.KeySource{layout.Constant(7), layout.FromTenant(), layout.Computed(lastOfID, "id")},
			Untyped: layout.SomeUntyped,
		}, true},
		"the id as the key": {[]string{"/id"}, &layout.Layout{IDPrefix: "n-", Envelope: "properties", Outside: []string{"count"}}, true},
		"no tenant":         {[]string{"/pk"}, &layout.Layout{Key: []layout.KeySource{layout.Format("%s/%s", "entityType", "id")}, Global: true, Names: map[string]string{"entityType": "Discriminator"}}, true},
		"no type":           {[]string{"/pk"}, &layout.Layout{Key: []layout.KeySource{layout.Constant(true)}, Global: true, Untyped: layout.AllUntyped, Envelope: "e"}, false},
	}
}

// lastOfID puts documents into a few logical partitions.
func lastOfID(values []any) (any, error) {
	id, _ := values[0].(string)
	return float64(id[len(id)-1] % 3), nil
}

// TestOperationsAgreeWithAMap runs random verbs against the repository and a
// map, and compares every answer, etags included, in Grove's form and in those
// of others.
func TestOperationsAgreeWithAMap(t *testing.T) {
	t.Parallel()
	forms := modelLayouts()
	repos := map[string]*repository.Repository[Note]{}
	for name, form := range forms {
		e := emulatortest.New(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)), emulatortest.WithPartitions(2))
		repos[name] = newRepository(t, newContainer(t, e.Client(nil), form.paths...), repository.Config{PartitionKey: form.paths, Layout: form.layout})
	}
	runs := 0
	rapid.Check(t, func(r *rapid.T) {
		runs++
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(forms))).Draw(r, "layout")
		m := &machine{t: t, stored: map[string]shadow{}}
		switch {
		case forms[name].layout != nil && forms[name].layout.Global:
			m.scope = repos[name].Global()
		case forms[name].paths[0] == "/id": // which tenants share
			m.scope = repos[name].In("run")
		default:
			m.scope = repos[name].In(fmt.Sprintf("run%d", runs))
		}
		if runs > 1 {
			for n, err := range m.scope.Query(t.Context(), repository.All()) {
				must(t, err)
				must(t, m.scope.Delete(t.Context(), n.ID, nil))
			}
		}
		verbs := map[string]func(*rapid.T){
			"Create": m.create, "Replace": m.replace, "Upsert": m.put, "Save": m.save, "Mutate": m.mutate, "Patch": m.patch,
			"Delete": m.remove, "SaveAll": m.saveAll, "DeleteAll": m.deleteAll, "": m.check,
		}
		if !forms[name].scattered {
			verbs["Batch"] = m.batch
		}
		r.Repeat(verbs)
	})
}

type machine struct {
	t      *testing.T
	scope  *repository.Scope[Note]
	stored map[string]shadow
}

func (m *machine) id(r *rapid.T) string {
	return fmt.Sprint("id", rapid.IntRange(0, 5).Draw(r, "id"))
}

// entity draws a note with one of the etags that a caller could hold: none, the
// present one, or one of somewhere else.
func (m *machine) entity(r *rapid.T) *Note {
	id := m.id(r)
	n := &Note{TenantItem: tenantitem.TenantItem[Note]{Meta: tenantitem.Meta{ID: id}}, Title: rapid.StringN(0, 8, -1).Draw(r, "title"), Count: rapid.Int64Range(0, 9).Draw(r, "count")}
	switch rapid.IntRange(0, 2).Draw(r, "etag") {
	case 1:
		n.ETag = m.stored[id].etag
	case 2:
		n.ETag = `"stale"`
	}
	return n
}

// expect compares an error with the one that the model foresees; nil is success.
func (m *machine) expect(r *rapid.T, got, want error) bool {
	r.Helper()
	if want == nil && got != nil || want != nil && !errors.Is(got, want) {
		r.Fatalf("got %v, want %v", got, want)
	}
	return got == nil
}

func (m *machine) now(r *rapid.T, n *Note) {
	r.Helper()
	if n.ETag == "" || n.ETag == m.stored[n.ID].etag {
		r.Fatalf("no new etag: %q", n.ETag)
	}
	m.stored[n.ID] = shadow{n.Title, n.Count, n.ETag}
}

func (m *machine) wantOfCreate(id string) error {
	if _, there := m.stored[id]; there {
		return repository.ErrConflict
	}
	return nil
}

func (m *machine) wantOfReplace(id, etag string) error {
	s, there := m.stored[id]
	switch {
	case etag == "":
		return repository.ErrInvalid
	case !there:
		return repository.ErrNotFound
	case s.etag != etag:
		return repository.ErrPreconditionFailed
	}
	return nil
}

func (m *machine) wantOfSave(n *Note) error {
	if n.ETag == "" {
		return m.wantOfCreate(n.ID)
	}
	return m.wantOfReplace(n.ID, n.ETag)
}

func (m *machine) create(r *rapid.T) {
	n := m.entity(r)
	want := m.wantOfCreate(n.ID)
	if m.expect(r, m.scope.Create(m.t.Context(), n), want) {
		m.now(r, n)
	}
}

func (m *machine) replace(r *rapid.T) {
	n := m.entity(r)
	want := m.wantOfReplace(n.ID, n.ETag)
	err := m.scope.Replace(m.t.Context(), n)
	if m.expect(r, err, want) {
		m.now(r, n)
		return
	}
	var conflict *repository.ConflictError[Note]
	if errors.As(err, &conflict) && conflict.Current.ETag != m.stored[n.ID].etag {
		r.Fatalf("the conflict shows %+v", conflict.Current)
	}
}

func (m *machine) save(r *rapid.T) {
	n := m.entity(r)
	want := m.wantOfSave(n)
	if m.expect(r, m.scope.Save(m.t.Context(), n), want) {
		m.now(r, n)
	}
}

func (m *machine) put(r *rapid.T) {
	n := m.entity(r)
	m.expect(r, m.scope.Upsert(m.t.Context(), n), nil)
	m.now(r, n)
}

func (m *machine) mutate(r *rapid.T) {
	id := m.id(r)
	s, there := m.stored[id]
	var want error
	if !there {
		want = repository.ErrNotFound
	}
	n, err := m.scope.Mutate(m.t.Context(), id, func(n *Note) error { n.Count++; return nil })
	if m.expect(r, err, want) {
		if n.Count != s.count+1 {
			r.Fatalf("count %d after %d", n.Count, s.count)
		}
		m.now(r, n)
	}
}

func (m *machine) patch(r *rapid.T) {
	id := m.id(r)
	s, there := m.stored[id]
	title := rapid.String().Draw(r, "expected title")
	if rapid.Bool().Draw(r, "as it is") {
		title = s.title
	}
	var want error
	switch {
	case !there:
		want = repository.ErrNotFound
	case title != s.title:
		want = repository.ErrPreconditionFailed
	}
	n, err := m.scope.Patch(m.t.Context(), id, repository.Increment("/count", 2).If(repository.Eq("title", title)))
	if m.expect(r, err, want) {
		if n.Count != s.count+2 || n.Title != s.title {
			r.Fatalf("patched %+v into %+v", s, n)
		}
		m.now(r, n)
	}
}

func (m *machine) remove(r *rapid.T) {
	id := m.id(r)
	s, there := m.stored[id]
	opts := &repository.DeleteOptions{ETag: rapid.SampledFrom([]string{"", s.etag, `"stale"`}).Draw(r, "required etag")}
	var want error
	switch {
	case !there:
		want = repository.ErrNotFound
	case opts.ETag != "" && opts.ETag != s.etag:
		want = repository.ErrPreconditionFailed
	}
	if m.expect(r, m.scope.Delete(m.t.Context(), id, opts), want) {
		delete(m.stored, id)
	}
}

// batch saves two documents and deletes a third: all or nothing.
func (m *machine) batch(r *rapid.T) {
	a, b, gone := m.entity(r), m.entity(r), m.id(r)
	if a.ID == b.ID || a.ID == gone || b.ID == gone {
		r.Skip("the model has no sequences inside one batch")
	}
	_, there := m.stored[gone]
	wantA, wantB := m.wantOfSave(a), m.wantOfSave(b)
	err := m.scope.Batch().Save(a).Save(b).Delete(gone, "").Commit(m.t.Context())
	if wantA == nil && wantB == nil && there {
		m.expect(r, err, nil)
		m.now(r, a)
		m.now(r, b)
		delete(m.stored, gone)
		return
	}
	if err == nil {
		r.Fatal("a batch went through that had to fail")
	}
}

func (m *machine) saveAll(r *rapid.T) {
	input := rapid.SliceOfNDistinct(rapid.Custom(m.entity), 1, 5, func(n *Note) string { return n.ID }).Draw(r, "input")
	want := make([]error, len(input))
	for i, n := range input {
		want[i] = m.wantOfSave(n)
	}
	receipt, _ := m.scope.SaveAll(m.t.Context(), slices.Values(input), nil)
	for i, n := range input {
		if m.expect(r, receipt.Items[i].Err, want[i]) {
			m.now(r, n)
		}
	}
}

func (m *machine) deleteAll(r *rapid.T) {
	ids := rapid.SliceOfNDistinct(rapid.Custom(m.id), 1, 3, rapid.ID[string]).Draw(r, "ids")
	receipt, _ := m.scope.DeleteAll(m.t.Context(), slices.Values(ids), nil)
	for i, id := range ids {
		var want error
		if _, there := m.stored[id]; !there {
			want = repository.ErrNotFound
		}
		m.expect(r, receipt.Items[i].Err, want)
		delete(m.stored, id)
	}
}

// check compares everything that is stored with the model.
func (m *machine) check(r *rapid.T) {
	got := map[string]shadow{}
	for n, err := range m.scope.Query(m.t.Context(), repository.All()) {
		if err != nil {
			r.Fatal(err)
		}
		got[n.ID] = shadow{n.Title, n.Count, n.ETag}
	}
	if !maps.Equal(got, m.stored) {
		r.Fatalf("stored %v, want %v", got, m.stored)
	}
	ids := []string{"id0", "id1", "id2", "id3", "id4", "id5"}
	many, err := m.scope.GetMany(m.t.Context(), ids...)
	var missing *repository.MissingError
	if len(many) != len(got) || len(got) < len(ids) != errors.As(err, &missing) {
		r.Fatalf("GetMany: %d of %d, %v", len(many), len(got), err)
	}
	id := m.id(r)
	there, err := m.scope.Exists(m.t.Context(), id)
	if _, want := got[id]; err != nil || there != want {
		r.Fatalf("Exists(%s): %t, %v", id, there, err)
	}
}
