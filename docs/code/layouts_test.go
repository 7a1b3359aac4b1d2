package code

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// owner is the application that made a container, as it uses it: with its own
// client, and its own idea of a document.
type owner struct {
	container string
	paths     []string
	version   int
	kind      azcosmos.PartitionKeyKind
	// docs are documents as it writes them; the first is about the entity with
	// the id "first", which it stores as id; the others are none of Grove's
	// business.
	docs []string
	id   string
}

// layoutTest is one container that others made.
type layoutTest[T, C, D any] struct {
	owner    owner
	entity   registry.Declaration
	child    registry.Declaration
	copies   registry.Declaration
	further  []registry.Container
	tenant   string // "" is none
	fresh    func(id string) *T
	change   func(*T)
	field    string // that change changes, for queries
	value    any
	newChild func() *C
	newCopy  func(ref string) *D
	copied   func(*D) any
	// stored is what Grove's new document has to look like for the owner.
	stored map[string]any
}

func testLayout[T, C, D any, PT tenantitem.Root[T], PC parented.Child[C, T], PD tenantitem.Root[D]](t *testing.T, tc layoutTest[T, C, D]) {
	for name, options := range map[string][]emulatortest.Option{"kind": nil, "unkind": {emulatortest.Unkind(7)}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runLayout[T, C, D, PT, PC, PD](t, tc, emulatortest.New(t, options...))
		})
	}
}

func runLayout[T, C, D any, PT tenantitem.Root[T], PC parented.Child[C, T], PD tenantitem.Root[D]](t *testing.T, tc layoutTest[T, C, D], e *emulatortest.Emulator) {
	ctx := t.Context()
	client := e.Client(nil)
	raw := tc.owner.makes(t, client)

	copies := denorm.New(denorm.Config{})
	plan, err := registry.NewPlan(registry.Config{
		Database: "theirs", Logger: slog.New(slog.DiscardHandler), Provision: true,
		Containers: append([]registry.Container{{ID: tc.owner.container, PartitionKey: tc.owner.paths}}, tc.further...),
	}, []registry.Declaration{tc.entity, tc.child, tc.copies}, copies.Extension())
	check(t, err)
	db, err := registry.Open(client, plan)
	check(t, err)
	check(t, db.Prepare(ctx))
	repo, err := registry.RepositoryOf[T, PT](db)
	check(t, err)
	children, err := registry.ChildrenOf[C, T, PC](db)
	check(t, err)
	holders, err := registry.RepositoryOf[D, PD](db)
	check(t, err)
	keeper, err := copies.Keeper()
	check(t, err)

	in := func() *repository.Scope[T] {
		if tc.tenant == "" {
			return repo.Global()
		}
		return repo.In(tc.tenant)
	}
	meta := func(v *T) *tenantitem.Meta { return PT(v).ItemMeta() }

	// Get what the owner wrote.
	first, err := in().Get(ctx, "first")
	check(t, err)
	if meta(first).ID != "first" || meta(first).TenantID != tc.tenant {
		t.Errorf("read id %q of tenant %q", meta(first).ID, meta(first).TenantID)
	}
	list := func() []string {
		var ids []string
		for v, err := range in().Query(ctx, repository.All().OrderBy("id")) {
			check(t, err)
			ids = append(ids, meta(v).ID)
		}
		return ids
	}
	if ids := list(); !slices.Equal(ids, []string{"first"}) {
		t.Errorf("the container holds %v", ids)
	}
	if _, err := in().Get(ctx, "nothing"); !errors.Is(err, repository.ErrNotFound) {
		t.Error("a document that is not there:", err)
	}
	if tc.tenant != "" {
		if _, err := repo.In("stranger").Get(ctx, "first"); err == nil {
			t.Error("another tenant read it")
		}
	}

	// Create one as the owner would.
	second := tc.fresh("second")
	check(t, in().Create(ctx, second))
	stored := raw.read(t, "second")
	for name, want := range tc.stored {
		if !reflect.DeepEqual(stored[name], want) {
			t.Errorf("%q is stored as %v, want %v", name, stored[name], want)
		}
	}
	if err := in().Create(ctx, tc.fresh("second")); !errors.Is(err, repository.ErrConflict) {
		t.Error("created twice:", err)
	}

	// Replace beside the owner's writer.
	raw.patch(ctx, t, "/their_own", `{"deep":[1,2]}`)
	tc.change(first)
	if err := in().Replace(ctx, first); !errors.Is(err, repository.ErrPreconditionFailed) {
		t.Error("replaced an older version:", err)
	}
	first, err = in().Mutate(ctx, "first", func(v *T) error { tc.change(v); return nil })
	check(t, err)
	now := raw.get(ctx, t)
	if !reflect.DeepEqual(now["their_own"], map[string]any{"deep": []any{1.0, 2.0}}) {
		t.Errorf("their member became %v", now["their_own"])
	}
	for name, want := range raw.before {
		if v, ok := now[name]; !ok && !strings.HasPrefix(name, "_") {
			t.Errorf("their %q is gone, it was %v (%v)", name, want, v)
		}
	}
	tc.change(first)
	check(t, in().Replace(ctx, first))

	// Query, page and count by a field; in the application's own SQL, too.
	n, err := in().Count(ctx, repository.Where(repository.Eq(tc.field, tc.value)))
	check(t, err)
	if n != 1 {
		t.Errorf("%d documents have the value", n)
	}
	n, err = in().Count(ctx, repository.SQL("c."+tc.field+" = @v", repository.P("v", tc.value)))
	check(t, err)
	if n != 1 {
		t.Errorf("%d documents have the value, by SQL", n)
	}
	page, err := in().Page(ctx, repository.All().OrderByDesc(tc.field), repository.PageOptions{Size: 1})
	check(t, err)
	rest, err := in().Page(ctx, repository.All().OrderByDesc(tc.field), repository.PageOptions{Size: 5, Cursor: page.Cursor})
	check(t, err)
	if len(page.Items)+len(rest.Items) != 2 {
		t.Errorf("pages of %d and %d", len(page.Items), len(rest.Items))
	}
	many, err := in().GetMany(ctx, "second", "first")
	check(t, err)
	if len(many) != 2 || meta(many[0]).ID != "second" {
		t.Error("read many:", len(many))
	}

	// Patch.
	patched, err := in().Patch(ctx, "second", repository.Set("/"+tc.field, tc.value).If(repository.Exists("id")))
	check(t, err)
	if again := tc.fresh("second"); reflect.DeepEqual(patched, again) {
		t.Error("the patch changed nothing")
	}

	// A child, which goes with its parent and comes back with it.
	child := tc.newChild()
	check(t, children.Under(first).Create(ctx, child))
	count := func() int64 {
		n, err := children.Under(first).Count(ctx, repository.All())
		check(t, err)
		return n
	}
	if count() != 1 {
		t.Error("the child is not found")
	}

	// A copy follows through the feed.
	holder := tc.newCopy("first")
	holderScope := holders.Global()
	if tc.tenant != "" {
		holderScope = holders.In(tc.tenant)
	}
	check(t, holderScope.Create(ctx, holder))
	if tc.copied(holder) != tc.value {
		t.Errorf("the copy was filled with %v", tc.copied(holder))
	}
	raw.patch(ctx, t, tc.pointerOf(t, raw), `"renamed by its owner"`)
	check(t, keeper.CatchUp(ctx))
	followed, err := holderScope.Get(ctx, PD(holder).ItemMeta().ID)
	check(t, err)
	if tc.copied(followed) != "renamed by its owner" {
		t.Errorf("the copy is %v", tc.copied(followed))
	}
	change, err := repo.Decode(raw.bytes(ctx, t))
	check(t, err)
	if meta(change).ID != "first" {
		t.Error("the feed's document was read as", meta(change).ID)
	}

	// A soft delete, and back.
	check(t, in().Delete(ctx, "first", nil))
	if _, err := in().Get(ctx, "first"); !errors.Is(err, repository.ErrNotFound) {
		t.Error("deleted, and read:", err)
	}
	if count() != 0 {
		t.Error("the child stayed")
	}
	if got := raw.get(ctx, t); got["their_own"] == nil {
		t.Error("the delete lost their member")
	}
	check(t, in().Restore(ctx, "first"))
	if count() != 1 {
		t.Error("the child did not come back")
	}
	receipt, err := in().SaveAll(ctx, slices.Values([]*T{tc.fresh("third"), tc.fresh("fourth")}), nil)
	check(t, err)
	if receipt.Succeeded != 2 {
		t.Errorf("saved %d of 2", receipt.Succeeded)
	}
	if ids := list(); !slices.Equal(ids, []string{"first", "fourth", "second", "third"}) {
		t.Errorf("the container holds %v", ids)
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// theirs is the owner's view of its container.
type theirs struct {
	owner
	c      *azcosmos.ContainerClient
	before map[string]any
}

func (o owner) makes(t *testing.T, client *azcosmos.Client) *theirs {
	t.Helper()
	ctx := t.Context()
	_, err := client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: "theirs"}, nil)
	check(t, err)
	db, err := client.NewDatabase("theirs")
	check(t, err)
	ttl := int32(-1)
	version := o.version
	if version == 0 {
		version = 2
	}
	_, err = db.CreateContainer(ctx, azcosmos.ContainerProperties{
		ID: o.container, DefaultTimeToLive: &ttl,
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: o.paths, Version: version, Kind: o.kind},
	}, nil)
	check(t, err)
	c, err := client.NewContainer("theirs", o.container)
	check(t, err)
	for _, doc := range o.docs {
		check(t, patiently(func() error {
			_, err := c.CreateItem(ctx, keyIn(t, doc, o.paths), []byte(doc), nil)
			return err
		}))
	}
	th := &theirs{owner: o, c: c}
	th.before = th.get(ctx, t)
	return th
}

// keyIn reads a document's key as its owner does.
func keyIn(t *testing.T, doc string, paths []string) azcosmos.PartitionKey {
	t.Helper()
	key := azcosmos.NewPartitionKey()
	for _, path := range paths {
		var v any
		check(t, json.Unmarshal([]byte(doc), &v))
		for step := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
			v = v.(map[string]any)[step]
		}
		key = key.AppendString(v.(string))
	}
	return key
}

func (o *theirs) bytes(ctx context.Context, t *testing.T) []byte {
	t.Helper()
	answer, err := o.c.ReadItem(ctx, keyIn(t, o.docs[0], o.paths), o.id, nil)
	check(t, err)
	return answer.Value
}

func (o *theirs) get(ctx context.Context, t *testing.T) map[string]any {
	t.Helper()
	var doc map[string]any
	check(t, json.Unmarshal(o.bytes(ctx, t), &doc))
	return doc
}

func (o *theirs) patch(ctx context.Context, t *testing.T, pointer, value string) {
	t.Helper()
	var ops azcosmos.PatchOperations
	ops.AppendSet(pointer, json.RawMessage(value))
	check(t, patiently(func() error {
		_, err := o.c.PatchItem(ctx, keyIn(t, o.docs[0], o.paths), o.id, ops, nil)
		return err
	}))
}

// patiently repeats a write of the owner's for as long as the service asks for it, as its SDK does not.
func patiently(write func() error) error {
	for {
		err := write()
		var answer *azcore.ResponseError
		if !errors.As(err, &answer) || answer.StatusCode != 449 {
			return err
		}
	}
}

// read finds a document as its owner would.
func (o *theirs) read(t *testing.T, id string) map[string]any {
	t.Helper()
	query := &azcosmos.QueryOptions{QueryParameters: []azcosmos.QueryParameter{{Name: "@id", Value: strings.Replace(o.id, "first", id, 1)}}}
	for range 100 { // the owner keeps no session: it may ask a replica that is behind
		pager := o.c.NewQueryItemsPager("SELECT * FROM c WHERE c.id = @id", azcosmos.NewPartitionKey(), query)
		for pager.More() {
			page, err := pager.NextPage(t.Context())
			check(t, err)
			for _, item := range page.Items {
				var doc map[string]any
				check(t, json.Unmarshal(item, &doc))
				return doc
			}
		}
	}
	t.Fatalf("the owner does not find %q", id)
	return nil
}

// pointerOf is where the owner keeps the field that is copied.
func (tc *layoutTest[T, C, D]) pointerOf(t *testing.T, raw *theirs) string {
	for name, v := range raw.before {
		if inner, ok := v.(map[string]any); ok {
			if _, ok := inner[tc.field]; ok {
				return "/" + name + "/" + tc.field
			}
		}
	}
	if _, ok := raw.before[tc.field]; !ok {
		t.Fatalf("no %q among %v", tc.field, slices.Collect(maps.Keys(raw.before)))
	}
	return "/" + tc.field
}
