package denorm_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/repository"
	layouts "github.com/cosmosgrove/grove/repository/layout"
	"github.com/cosmosgrove/grove/tenantitem"
)

// state is everything that an application sees.
func (s *shaped) state() []string {
	s.t.Helper()
	var out []string
	add := func(e any, err error) {
		noError(s.t, err)
		raw, err := json.Marshal(e)
		noError(s.t, err)
		var m map[string]any
		noError(s.t, json.Unmarshal(raw, &m))
		for _, name := range []string{"_etag", "_ts", "etag", "updatedAt", "createdAt"} {
			delete(m, name)
		}
		raw, _ = json.Marshal(m)
		out = append(out, fmt.Sprintf("%T %s", e, raw))
	}
	ctx := s.t.Context()
	for e, err := range s.owners.Query(ctx, repository.All()) {
		add(e, err)
	}
	for e, err := range s.pages.Query(ctx, repository.All()) {
		add(e, err)
	}
	for e, err := range s.seals.Query(ctx, repository.All()) {
		add(e, err)
	}
	for e, err := range s.words.In(acme).Query(ctx, repository.All()) {
		add(e, err)
	}
	slices.Sort(out)
	return out
}

// class is what an application can tell of an error.
func class(err error) string {
	if err == nil {
		return "ok"
	}
	for _, e := range []error{repository.ErrNotFound, repository.ErrConflict, repository.ErrDanglingRef, repository.ErrInvalid, repository.ErrPreconditionFailed, repository.ErrHasChildren, repository.ErrReferenced} {
		if errors.Is(err, e) {
			return e.Error()
		}
	}
	return "other: " + err.Error()
}

func id(kind string, n int) string { return kind + strconv.Itoa(n) }

// run does random work and returns what came of every step, and every state after the feed was followed.
func (s *shaped) run(seed uint64, steps int) (told []string) {
	r := rand.New(rand.NewPCG(seed, 1))
	ctx := s.t.Context()
	owner := func() tenantitem.Ref[Owner] {
		return tenantitem.Ref[Owner]([]string{"", "o0", "o1", "o2", "o3"}[r.IntN(5)])
	}
	row := func(i int) PageRow { return PageRow{Note: fmt.Sprint(i), OwnerID: owner()} }
	page := func(i int) *Page {
		p := &Page{Title: fmt.Sprint("t", i), Day: "2024-01-02", OwnerID: owner(), Bound: owner(), Keeper: row(i)}
		if r.IntN(3) > 0 {
			p.Bound = ""
		}
		for k := range r.IntN(3) {
			p.Rows = append(p.Rows, row(k))
		}
		if r.IntN(2) == 0 {
			p.Seals = []tenantitem.Ref[Sigil]{tenantitem.Ref[Sigil](id("s", r.IntN(3)))}
		}
		return p
	}
	change := func(i int) func(p *Page) error {
		kind := r.IntN(6)
		o, ro, seal := owner(), row(i), tenantitem.Ref[Sigil](id("s", r.IntN(3)))
		return func(p *Page) error {
			switch kind {
			case 0:
				p.OwnerID = o
			case 1:
				p.Title = fmt.Sprint("m", i)
			case 2:
				p.Rows = append(p.Rows, ro)
			case 3:
				slices.Reverse(p.Rows)
			case 4:
				p.Seals = toggle(p.Seals, seal)
			case 5:
				p.Keeper = ro
				if len(p.Rows) > 0 {
					p.Rows = p.Rows[1:]
				}
			}
			p.NameThen = "mine"
			return nil
		}
	}
	say := func(i int, what string, err error) {
		told = append(told, fmt.Sprintf("%d %s: %s", i, what, class(err)))
	}
	for i := range steps {
		pid, oid, sid, wid := id("p", r.IntN(4)), id("o", r.IntN(4)), id("s", r.IntN(3)), id("w", r.IntN(5))
		switch k := r.IntN(24); k {
		case 0, 1:
			o := &Owner{Name: fmt.Sprint("n", i)}
			o.ID = oid
			say(i, "create owner", s.owners.Create(ctx, o))
		case 2, 3:
			_, err := s.owners.Mutate(ctx, oid, func(o *Owner) error { o.Name = fmt.Sprint("n", i); return nil })
			say(i, "rename owner", err)
		case 4:
			_, err := s.owners.Patch(ctx, oid, repository.Set("/name", fmt.Sprint("n", i)))
			say(i, "patch owner", err)
		case 5:
			say(i, "delete owner", s.owners.Delete(ctx, oid, nil))
		case 6:
			say(i, "restore owner", s.owners.Restore(ctx, oid))
		case 7, 8:
			p := page(i)
			p.ID = pid
			say(i, "create page", s.pages.Create(ctx, p))
		case 9:
			p := page(i)
			p.ID = pid
			say(i, "upsert page", s.pages.Upsert(ctx, p))
		case 10, 11, 12:
			_, err := s.pages.Mutate(ctx, pid, change(i))
			say(i, "mutate page", err)
		case 13:
			f := change(i)
			p, err := s.pages.Get(ctx, pid)
			if err == nil {
				_ = f(p)
				err = s.pages.Save(ctx, p)
			}
			say(i, "save page", err)
		case 14:
			p, f := page(i), change(i)
			q, err := s.pages.Get(ctx, pid)
			if err == nil {
				_ = f(q)
				p.ID, p.ETag, p.Rows = pid, q.ETag, q.Rows
				err = s.pages.Replace(ctx, p)
			}
			say(i, "replace page", err)
		case 15:
			_, err := s.pages.Patch(ctx, pid, repository.Set("/title", fmt.Sprint("x", i)))
			say(i, "patch page", err)
		case 16:
			say(i, "delete page", s.pages.Delete(ctx, pid, nil))
		case 17:
			say(i, "restore page", s.pages.Restore(ctx, pid))
		case 18:
			l := &Sigil{Text: fmt.Sprint(i), Pages: []tenantitem.Ref[Page]{tenantitem.Ref[Page](pid)}}
			l.ID = sid
			say(i, "create seal", s.seals.Create(ctx, l))
		case 19:
			_, err := s.seals.Mutate(ctx, sid, func(l *Sigil) error { l.Pages = toggle(l.Pages, tenantitem.Ref[Page](pid)); return nil })
			say(i, "mutate seal", err)
		case 20:
			w := &Word{Text: fmt.Sprint(i), ByID: owner()}
			w.ID = wid
			say(i, "create word", s.words.UnderID(acme, tenantitem.Ref[Page](pid)).Create(ctx, w))
		case 21:
			switch r.IntN(3) {
			case 0:
				say(i, "move word", s.words.Move(ctx, acme, wid, tenantitem.Ref[Page](pid)))
			case 1:
				say(i, "delete word", s.words.In(acme).Delete(ctx, wid, nil))
			case 2:
				_, err := s.words.In(acme).Mutate(ctx, wid, func(w *Word) error { w.Text = fmt.Sprint("w", i); return nil })
				say(i, "mutate word", err)
			}
		case 22:
			a, b := page(i), page(i)
			a.ID, b.ID = pid, id("p", r.IntN(4))
			if r.IntN(2) == 0 {
				if q, err := s.pages.Get(ctx, pid); err == nil {
					_ = change(i)(q)
					a = q
				}
			}
			if a.ID == b.ID {
				b.ID += "x"
			}
			receipt, err := s.pages.SaveAll(ctx, slices.Values([]*Page{a, b}), nil)
			say(i, "save all", err)
			for _, item := range receipt.Items {
				say(i, "of it "+item.ID, item.Err)
			}
		case 23:
			a := page(i)
			a.ID = pid + "b"
			say(i, "batch", s.pages.Batch().Upsert(a).Commit(ctx))
			l := &Sigil{Text: fmt.Sprint(i)}
			l.ID = sid
			say(i, "put seal", s.seals.Upsert(ctx, l))
		}
		if r.IntN(5) == 0 || i == steps-1 {
			noError(s.t, s.keeper.CatchUp(ctx))
			told = append(told, s.state()...)
			for drift, err := range s.keeper.Audit(ctx, acme) {
				told = append(told, fmt.Sprintf("drift: %d %+v %v", i, drift, err))
				s.t.Errorf("seed %d, step %d: %+v %v", seed, i, drift, err)
			}
		}
	}
	return told
}

// The same random work comes to the same in every layout as in documents of Grove's own form: what each call returns, what an application reads, and what an
// audit finds.
func TestAScriptComesToTheSameInEveryLayout(t *testing.T) {
	t.Parallel()
	const seed, steps = 3, 40
	tenant := []string{"/tenantId"}
	all := func(l layouts.Layout) [4]layouts.Layout { return [4]layouts.Layout{l, l, l, l} }
	keys := func(k ...string) [4][]string { return [4][]string{k, k, k, k} }
	shapes := map[string]shape{
		"one names": {l: [4]layouts.Layout{
			{Names: map[string]string{"name": "pages", "pages": "name", "latest": "l", "deletedAt": "deleted_at", "_moved": "mv", "_counted": "ct", "_links": "lk", "_moving": "mg", "_ops": "oo", "_op": "o"}},
			{Names: map[string]string{"ownerId": "owner_id", "rows": "lines", "keeper": "kept", "seals": "ss", "words": "nw", "lastWords": "lw", "deletedAt": "deleted_at", "_moved": "mv", "_counted": "ct", "_links": "lk", "_moving": "mg", "_ops": "oo", "_op": "o"}},
			{Names: map[string]string{"pages": "ps", "deletedAt": "deleted_at", "_moved": "mv", "_counted": "ct", "_links": "lk", "_moving": "mg", "_ops": "oo", "_op": "o"}},
			{Names: map[string]string{"parentId": "page_id", "byThen": "by_then", "deletedAt": "deleted_at", "_moved": "mv", "_counted": "ct", "_links": "lk", "_moving": "mg", "_ops": "oo", "_op": "o"}},
		}, keys: keys(tenant...), one: true},
		"one prefixes": {l: [4]layouts.Layout{{IDPrefix: "O|"}, {IDPrefix: "P|"}, {IDPrefix: "S|"}, {IDPrefix: "W|"}}, keys: keys(tenant...), one: true},
		"one envelope": {l: all(layouts.Layout{Envelope: "value"}), keys: keys(tenant...), one: true},
		"one mixed":    {l: [4]layouts.Layout{{}, {Envelope: "value", Outside: []string{"ownerId", "keeper", "rows"}}, {IDPrefix: "S|"}, {Envelope: "x", Names: map[string]string{"parentId": "page_id"}, IDPrefix: "W|"}}, keys: keys(tenant...), one: true},
		"one nomarks":  {l: all(layouts.Layout{NoMarks: true}), keys: keys(tenant...), one: true},
		"own untyped":  {l: all(layouts.Layout{Untyped: layouts.AllUntyped}), keys: keys(tenant...)},
		"own some":     {l: all(layouts.Layout{Untyped: layouts.SomeUntyped, Envelope: "v"}), keys: keys(tenant...)},
		"own own":      {l: all(layouts.Layout{}), keys: keys(tenant...)},
		"own byid":     {l: all(layouts.Layout{IDPrefix: "Q|"}), keys: keys("/id")},
		"own format":   {l: [4]layouts.Layout{{}, {Key: []layouts.KeySource{layouts.Format("%s-%s", "tenantId", "day")}}, {}, {Key: []layouts.KeySource{layouts.Format("%s-%s", "tenantId", "parentId")}}}, keys: [4][]string{tenant, {"/partitionKey"}, tenant, {"/pk"}}},
		"own computed": {l: [4]layouts.Layout{
			{Key: []layouts.KeySource{layouts.Computed(func(v []any) (any, error) { return fmt.Sprint(len(v[0].(string))), nil }, "id")}, NoMarks: true},
			{Key: []layouts.KeySource{layouts.FromField("id")}, IDPrefix: "P|", Envelope: "e"},
			{Key: []layouts.KeySource{layouts.FromTenant(), layouts.FromField("id")}},
			{Key: []layouts.KeySource{layouts.FromTenant(), layouts.FromEntityType()}, Envelope: "q", Outside: []string{"parentId"}},
		}, keys: [4][]string{{"/a"}, {"/b"}, {"/a", "/b"}, {"/a", "/b"}}},
	}
	for name, sh := range shapes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own, laid := openShaped(t, shape{keys: keys(tenant...), one: sh.one}), openShaped(t, sh)
			want, got := own.run(seed, steps), laid.run(seed, steps)
			for i := range max(len(want), len(got)) {
				if i >= len(want) || i >= len(got) || want[i] != got[i] {
					before := max(0, i-6)
					t.Fatalf("they differ at %d:\nown:\n%s\nlaid out:\n%s", i, strings.Join(want[before:min(len(want), i+2)], "\n"), strings.Join(got[min(len(got), before):min(len(got), i+2)], "\n"))
				}
			}
		})
	}
}
