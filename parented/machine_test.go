package parented_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"pgregory.net/rapid"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Random verbs on a forest of four levels with all three rules and random
// policies: every answer is the model's, and after every verb the container
// holds what the model does, hidden documents included.
func TestAForestAgreesWithItsModel(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it turns the clock forward")
	rapid.Check(t, func(r *rapid.T) {
		emulator := emulatortest.New(t, emulatortest.Calm()) // it reads around the repositories, without their session
		policies := rapid.SampledFrom([]parented.Policy{
			{}, {Tombstone: time.Hour}, {Retain: 2 * time.Hour}, {Tombstone: time.Hour, Retain: 2 * time.Hour}, {Tombstone: 2 * time.Hour, Retain: time.Hour},
		})
		p := planting{
			client: emulator.Client(nil),
			config: parented.ForestConfig{PageSize: rapid.IntRange(1, 3).Draw(r, "page"), Now: emulator.Clock().Now},
			note:   policies.Draw(r, "notes"), child: policies.Draw(r, "comments"), label: policies.Draw(r, "labels"),
		}
		m := &machine{t: t, g: plant(t, p), model: newModel(p), clock: emulator.Clock().Advance}
		m.verbs = m.g.verbs("acme")
		actions := map[string]func(*rapid.T){
			"create": m.create, "move": m.move, "delete": m.remove, "restore": m.restore, "purge": m.purge,
			"stray": m.stray, "sweep": m.sweep, "resume": m.resume, "expire": m.expire,
		}
		names := rapid.SampledFrom(append(slices.Sorted(maps.Keys(actions)), "create"))
		for range rapid.IntRange(10, 30).Draw(r, "steps") {
			actions[names.Draw(r, "action")](r)
			m.compare(r)
		}
	})
}

type machine struct {
	t     *testing.T
	g     grove
	verbs map[string]verbs
	model *model
	clock func(time.Duration)
}

// verbs are an entity type's without its Go type.
type verbs struct {
	create, move           func(ctx context.Context, id, parent string) error
	delete, restore, purge func(ctx context.Context, id string) error
	plan                   func(ctx context.Context, id string) (*repository.DeletePlan, error)
}

func (g grove) verbs(tenant string) map[string]verbs {
	notes := verbsOf(g.notes.In(tenant))
	notes.create = func(ctx context.Context, id, _ string) error {
		note := &Note{}
		note.ID = id
		return g.notes.In(tenant).Create(ctx, note)
	}
	return map[string]verbs{
		"Note": notes, "Comment": childVerbs(g.comments, tenant), "Reply": childVerbs(g.replies, tenant),
		"Vote": childVerbs(g.votes, tenant), "Reaction": childVerbs(g.reactions, tenant), "Label": childVerbs(g.labels, tenant),
	}
}

func verbsOf[T any](s *repository.Scope[T]) verbs {
	return verbs{
		delete:  func(ctx context.Context, id string) error { return s.Delete(ctx, id, nil) },
		restore: s.Restore, purge: s.Purge, plan: s.PlanDelete,
	}
}

func childVerbs[C, P any](repo *parented.Repository[C, P], tenant string) verbs {
	v := verbsOf(repo.In(tenant))
	v.create = func(ctx context.Context, id, parent string) error {
		child := new(C)
		engine.MetaOf(child).ID = id
		return repo.UnderID(tenant, tenantitem.Ref[P](parent)).Create(ctx, child)
	}
	v.move = func(ctx context.Context, id, parent string) error {
		return repo.Move(ctx, tenant, id, tenantitem.Ref[P](parent))
	}
	return v
}

// one draws an entity type and an id of it; few ids make verbs meet and ids be used again.
func (m *machine) one(r *rapid.T, only func(kind) bool) (kind, string) {
	k := rapid.SampledFrom(m.model.kinds).Filter(only).Draw(r, "entity type")
	return k, idOf(r, k.name)
}

func idOf(r *rapid.T, kind string) string {
	return fmt.Sprint(kind, rapid.IntRange(0, 3).Draw(r, kind))
}

func anyKind(kind) bool    { return true }
func isChild(k kind) bool  { return k.parent != "" }
func isSoft(k kind) bool   { return k.policy.Retain > 0 }
func hasRules(k kind) bool { return k.name != "Vote" && k.name != "Reaction" }

func (m *machine) create(r *rapid.T) {
	k, id := m.one(r, anyKind)
	parent := ""
	if isChild(k) {
		parent = idOf(r, k.parent)
	}
	err := m.verbs[k.name].create(m.t.Context(), id, parent)
	switch {
	case isChild(k) && !m.model.alive(parent):
		answers(r, err, repository.ErrDanglingRef)
	case m.model.alive(id):
		answers(r, err, repository.ErrConflict)
	default:
		answers(r, err, nil)
		m.model.docs[id] = shadow{kind: k.name, parent: parent, state: alive}
	}
}

func (m *machine) move(r *rapid.T) {
	k, id := m.one(r, isChild)
	to := idOf(r, k.parent)
	err := m.verbs[k.name].move(m.t.Context(), id, to)
	switch {
	case !m.model.alive(to):
		answers(r, err, repository.ErrDanglingRef)
	case !m.model.alive(id):
		answers(r, err, repository.ErrNotFound)
	default:
		answers(r, err, nil)
		m.model.change(id, func(d *shadow) { d.parent = to })
	}
}

func (m *machine) remove(r *rapid.T) {
	k, id := m.one(r, anyKind)
	plan, planErr := m.verbs[k.name].plan(m.t.Context(), id)
	err := m.verbs[k.name].delete(m.t.Context(), id)
	if !m.model.alive(id) {
		answers(r, planErr, repository.ErrNotFound)
		answers(r, err, repository.ErrNotFound)
		return
	}
	answers(r, planErr, nil)
	want := m.model.plan(id)
	if hasRules(k) && (!maps.Equal(plan.Removed, want.removed) || !maps.Equal(plan.Orphaned, want.orphaned) || !maps.Equal(plan.Restricting, want.restricting)) {
		r.Fatalf("PlanDelete says %+v, want %+v", plan, want)
	}
	if m.model.delete(id) {
		answers(r, err, nil)
		return
	}
	var refusal *parented.ChildrenError
	if !errors.As(err, &refusal) || !maps.Equal(refusal.Counts, want.restricting) {
		r.Fatalf("delete: %v, want a refusal because of %v", err, want.restricting)
	}
}

func (m *machine) restore(r *rapid.T) {
	k, id := m.one(r, anyKind)
	err := m.verbs[k.name].restore(m.t.Context(), id)
	d := m.model.docs[id]
	switch {
	case !isSoft(k):
		answers(r, err, repository.ErrInvalid)
	case d.state == alive:
		answers(r, err, repository.ErrConflict)
	case d.state != retained:
		answers(r, err, repository.ErrNotFound)
	case d.parent != "" && !m.model.alive(d.parent):
		answers(r, err, repository.ErrDanglingRef)
	default:
		answers(r, err, nil)
		m.model.restore(id)
	}
}

func (m *machine) purge(r *rapid.T) {
	k, id := m.one(r, anyKind)
	err := m.verbs[k.name].purge(m.t.Context(), id)
	switch {
	case !isSoft(k):
		answers(r, err, repository.ErrInvalid)
	case m.model.alive(id):
		answers(r, err, repository.ErrConflict)
	case m.model.docs[id].state != retained:
		answers(r, err, repository.ErrNotFound)
	default:
		answers(r, err, nil)
		m.model.purge(id)
	}
}

// stray stores a child around the repositories, under a parent that is not there.
func (m *machine) stray(r *rapid.T) {
	k, id := m.one(r, isChild)
	parent := "lost"
	if k.rule != parented.Restrict {
		parent = rapid.SampledFrom([]string{"lost", idOf(r, k.parent)}).Draw(r, "parent")
	}
	if _, there := m.model.docs[id]; there || m.model.alive(parent) {
		return
	}
	m.g.stray(m.t, k.name, id, k.parent, parent)
	m.model.docs[id] = shadow{kind: k.name, parent: parent, state: alive}
}

// stray stores a child around the repositories.
func (g grove) stray(t testing.TB, kind, id, parentKind, parent string) {
	t.Helper()
	container, err := g.database.NewContainer("items")
	must(t, err)
	raw, err := json.Marshal(map[string]string{"id": id, "tenantId": "acme", "entityType": kind, "parentId": parent, "parentEntityType": parentKind})
	must(t, err)
	_, err = container.CreateItem(context.Background(), azcosmos.NewPartitionKeyString("acme").AppendString(kind), raw, nil)
	must(t, err)
}

func (m *machine) sweep(r *rapid.T) {
	keep := rapid.Bool().Draw(r, "keep")
	swept, err := m.g.forest.Sweep(m.t.Context(), "acme", &parented.SweepOptions{MinAge: time.Nanosecond, Keep: keep})
	answers(r, err, nil)
	if want := m.model.sweep(keep); !maps.Equal(swept, want) {
		r.Fatalf("swept %v, want %v", swept, want)
	}
}

func (m *machine) resume(r *rapid.T) {
	resumed, err := m.g.forest.Resume(m.t.Context(), "acme")
	if err != nil || resumed != (parented.Resumed{}) {
		r.Fatalf("nothing is under way, and Resume found %+v, %v", resumed, err)
	}
}

func (m *machine) expire(*rapid.T) {
	m.clock(24 * time.Hour)
	m.model.expire()
}

func (m *machine) compare(r *rapid.T) {
	stored := map[string]shadow{}
	for _, raw := range m.g.documents(m.t, "acme") {
		var doc struct {
			tenantitem.Meta
			ParentID string          `json:"parentId"`
			Journal  *engine.Journal `json:"_deletion"`
		}
		must(m.t, json.Unmarshal(raw, &doc))
		d := shadow{kind: doc.EntityType, parent: doc.ParentID, state: alive}
		switch {
		case doc.DeletedAt != nil && doc.Journal != nil:
			d.state = state(doc.Journal.Phase)
		case doc.DeletedAt != nil:
			d.state = tombstone
		}
		stored[doc.ID] = d
	}
	want := maps.Clone(m.model.docs)
	for id, d := range want {
		d.group = 0
		want[id] = d
	}
	if !maps.Equal(stored, want) {
		r.Fatalf("stored: %v\nmodel:  %v", stored, want)
	}
}

// answers compares what a verb said with the model's answer.
func answers(r *rapid.T, err, want error) {
	r.Helper()
	if !errors.Is(err, want) {
		r.Fatalf("error %v, want one that is %v", err, want)
	}
}
