package parented_test

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/cosmosgrove/grove/parented"
)

// model is a forest in memory: the rules written down once more, without
// partitions, batches and journals.
type model struct {
	kinds   []kind // in the order of registration
	docs    map[string]shadow
	deletes int
}

// kind is an entity type as the model knows it.
type kind struct {
	name, parent string
	rule         parented.Rule
	policy       parented.Policy
}

// shadow is a document as the model believes it to be stored.
type shadow struct {
	kind, parent string
	state        state
	group        int // of what was deleted softly together
}

type state string

const (
	alive     state = "alive"
	retained  state = "retained"
	tombstone state = "tombstone"
)

func newModel(p planting) *model {
	return &model{docs: map[string]shadow{}, kinds: []kind{
		{name: "Note", policy: p.note},
		{name: "Comment", parent: "Note", rule: parented.Cascade, policy: p.child},
		{name: "Reply", parent: "Comment", rule: parented.Cascade},
		{name: "Vote", parent: "Comment", rule: cmp.Or(p.vote, parented.Restrict)},
		{name: "Reaction", parent: "Reply", rule: parented.Cascade},
		{name: "Label", parent: "Note", rule: parented.Orphan, policy: p.label},
	}}
}

func (m *model) kind(name string) kind {
	return m.kinds[slices.IndexFunc(m.kinds, func(k kind) bool { return k.name == name })]
}

func (m *model) alive(id string) bool { return m.docs[id].state == alive }

func (m *model) change(id string, f func(*shadow)) {
	d := m.docs[id]
	f(&d)
	m.docs[id] = d
}

// below returns the children that which holds for, with their rules.
func (m *model) below(id string, which func(shadow) bool) map[string]parented.Rule {
	out := map[string]parented.Rule{}
	for child, d := range m.docs {
		if k := m.kind(d.kind); k.parent == m.docs[id].kind && d.parent == id && which(d) {
			out[child] = k.rule
		}
	}
	return out
}

func isAlive(d shadow) bool { return d.state == alive }

// outcome is what a delete would do, by entity type.
type outcome struct{ removed, orphaned, restricting map[string]int64 }

func (m *model) plan(id string) outcome {
	o := outcome{map[string]int64{}, map[string]int64{}, map[string]int64{}}
	m.planInto(id, o)
	return o
}

func (m *model) planInto(id string, o outcome) {
	o.removed[m.docs[id].kind]++
	for child, rule := range m.below(id, isAlive) {
		switch rule {
		case parented.Cascade:
			m.planInto(child, o)
		case parented.Orphan:
			o.orphaned[m.docs[child].kind]++
		case parented.Restrict:
			o.restricting[m.docs[child].kind]++
		}
	}
}

// delete removes a document that is alive; false is a refusal.
func (m *model) delete(id string) bool {
	if len(m.plan(id).restricting) > 0 {
		return false
	}
	m.deletes++
	m.remove(id, isAlive, m.kind(m.docs[id].kind).policy.Retain)
	return true
}

func (m *model) purge(id string) {
	group := m.docs[id].group
	m.remove(id, func(d shadow) bool { return d.state == alive || d.state == retained && d.group == group }, 0)
}

func (m *model) remove(id string, which func(shadow) bool, retain time.Duration) {
	for child, rule := range m.below(id, which) {
		if rule == parented.Orphan {
			m.change(child, func(d *shadow) { d.parent = "" })
		} else {
			m.remove(child, which, retain)
		}
	}
	switch {
	case retain > 0:
		m.change(id, func(d *shadow) { d.state, d.group = retained, m.deletes })
	case m.kind(m.docs[id].kind).policy.Tombstone > 0:
		m.change(id, func(d *shadow) { d.state = tombstone })
	default:
		delete(m.docs, id)
	}
}

func (m *model) restore(id string) {
	group := m.docs[id].group
	for child := range m.below(id, func(d shadow) bool { return d.state == retained && d.group == group }) {
		m.restore(child)
	}
	m.change(id, func(d *shadow) { d.state = alive })
}

// orphans are the children whose parent is not there.
func (m *model) orphans(k kind) []string {
	var out []string
	for id, d := range m.docs {
		if d.kind == k.name && d.state == alive && k.parent != "" && d.parent != "" && !m.alive(d.parent) {
			out = append(out, id)
		}
	}
	return out
}

func (m *model) sweep(keep bool) parented.Swept {
	swept := parented.Swept{}
	for _, k := range m.kinds {
		for _, id := range m.orphans(k) {
			swept[k.name]++
			switch {
			case keep:
			case k.rule == parented.Cascade:
				m.delete(id)
			case k.rule == parented.Orphan:
				m.change(id, func(d *shadow) { d.parent = "" })
			}
		}
	}
	return swept
}

// expire lets so much time go by that nothing of a delete is left.
func (m *model) expire() {
	maps.DeleteFunc(m.docs, func(_ string, d shadow) bool { return d.state != alive })
}
