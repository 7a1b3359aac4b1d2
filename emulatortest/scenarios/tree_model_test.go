package scenarios_test

import (
	"errors"
	"maps"
	"strings"

	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// treeModel is the tree in memory.
type treeModel struct {
	rules    rules
	policies [3]parented.Policy // of notes, comments and replies
	docs     map[string]modelDoc
	runs     int
}

type modelDoc struct {
	parent  string
	gone    bool
	run     int // of the delete that hides it; 0 for one that is there
	entries int64
}

func newTreeModel(r rules, form shape) treeModel {
	m := treeModel{rules: r, policies: form.policies(), docs: map[string]modelDoc{
		"z": {parent: "root"}, "a": {parent: "root"}, "b": {parent: "root"}, "c": {parent: "a"}, "r": {parent: "c"},
	}}
	if form.hasCities() {
		m.docs["A"], m.docs["C"], m.docs["R"] = modelDoc{parent: "root"}, modelDoc{parent: "A"}, modelDoc{parent: "C"}
	}
	for _, v := range form.before {
		m.apply(v)
	}
	return m
}

// ruleOf is what becomes of a document whose parent is deleted.
func (m treeModel) ruleOf(id string) parented.Rule {
	switch strings.ToLower(id) {
	case "c":
		return m.rules.comments
	case "r", "n":
		return m.rules.replies
	}
	return parented.Cascade
}

// restorable says whether a delete that begins with a document can be undone.
func (m treeModel) restorable(id string) bool {
	level := 0
	switch strings.ToLower(id) {
	case "c":
		level = 1
	case "r", "n":
		level = 2
	}
	return m.policies[level].Retain > 0
}

func (m treeModel) clone() treeModel {
	m.docs = maps.Clone(m.docs)
	return m
}

func (m treeModel) there(id string) bool {
	d, ok := m.docs[id]
	return id == "root" || id == "" || ok && !d.gone && d.run == 0
}

// reaches says whether some order of the calls that are left leads to what was seen.
func (m treeModel) reaches(calls [3][]call, seen map[string]string, entries int64) bool {
	ended := true
	for i := range calls {
		if len(calls[i]) == 0 {
			continue
		}
		ended = false
		c, rest := calls[i][0], calls
		rest[i] = calls[i][1:]
		stored := c.ended && (c.err == nil || c.isStoredLate())
		if !stored && m.reaches(rest, seen, entries) {
			return true
		}
		if c.ended && isDefinite(c.err) {
			continue
		}
		next := m.clone()
		if (next.apply(c.verb) || c.isStoredLate() && next.storeLate(c.verb)) && next.reaches(rest, seen, entries) {
			return true
		}
	}
	return ended && m.is(seen, entries)
}

// isStoredLate says whether its process was told of a child that it is stored, though its parent was deleted meanwhile.
func (c call) isStoredLate() bool {
	writes := c.verb.name == "create" || c.verb.name == "upsert"
	return writes && errors.Is(c.err, repository.ErrAmbiguous) && errors.Is(c.err, repository.ErrDanglingRef)
}

// storeLate stores a child whose parent has been deleted, which only Restrict allows: it is hidden with a parent that can be restored, else it stays.
func (m *treeModel) storeLate(v treeVerb) bool {
	parent, known := m.docs[v.to]
	if !known || m.there(v.to) || m.ruleOf(v.id) != parented.Restrict {
		return false
	}
	run := parent.run
	if parent.gone {
		run = 0
	}
	m.docs[v.id] = modelDoc{parent: v.to, run: run}
	return true
}

func (m treeModel) is(seen map[string]string, entries int64) bool {
	there := map[string]string{}
	for id, d := range m.docs {
		if m.there(id) && !strings.HasPrefix(id, "entries") {
			there[id] = d.parent
		}
	}
	return maps.Equal(there, seen) && (!m.there("entries") && entries == 0 || m.there("entries") && entries == m.docs["entries"].entries)
}

// apply does what a call that succeeded does; false where it can't succeed. Two processes may be told that one and the same delete, restore or purge succeeded.
func (m *treeModel) apply(v treeVerb) bool {
	d, known := m.docs[v.id]
	switch v.name {
	case "delete":
		if !m.there(v.id) {
			return known
		}
		if m.forbidden(v.id) {
			return false
		}
		m.runs++
		m.hide(v.id, m.runs, !m.restorable(v.id))
	case "restore":
		if m.there(v.id) {
			return true
		}
		if !known || d.gone || !m.there(d.parent) {
			return false
		}
		m.show(v.id, d.run) // also of a part, where the document above it was written anew
	case "purge":
		if d.gone {
			return true
		}
		if d.run == 0 {
			return false
		}
		m.purge(v.id, d.run) // of a branch that was deleted with its tree, too
	case "move":
		if !m.there(v.id) || !m.there(v.to) {
			return false
		}
		d.parent = v.to
		m.docs[v.id] = d
	case "append":
		if !m.there(v.id) {
			return false
		}
		e, ok := m.docs["entries"]
		if !ok || !m.there("entries") {
			e = modelDoc{parent: v.id}
		}
		e.entries++
		m.docs["entries"] = e
	case "mutate", "patch":
		return m.there(v.id)
	case "upsert":
		if !m.there(v.to) {
			return false
		}
		m.docs[v.id] = modelDoc{parent: v.to}
	case "create":
		if m.there(v.id) || !m.there(v.to) {
			return false
		}
		m.docs[v.id] = modelDoc{parent: v.to}
	}
	return true
}

// show brings back what one delete hides at and below a document.
func (m *treeModel) show(id string, run int) {
	d := m.docs[id]
	d.run = 0
	m.docs[id] = d
	for child, c := range m.docs {
		if c.parent == id && c.run == run && !c.gone {
			m.show(child, run)
		}
	}
}

// purge takes away what one delete hides at and below a document.
func (m *treeModel) purge(id string, run int) {
	d := m.docs[id]
	d.gone = true
	m.docs[id] = d
	for child, c := range m.docs {
		if c.parent == id && c.run == run && !c.gone {
			m.purge(child, run)
		}
	}
}

// forbidden says whether something is there below the document that Restrict keeps.
func (m *treeModel) forbidden(id string) bool {
	for child, d := range m.docs {
		if rule := m.ruleOf(child); d.parent == id && m.there(child) && (rule == parented.Restrict || rule == parented.Cascade && m.forbidden(child)) {
			return true
		}
	}
	return false
}

func (m *treeModel) hide(id string, run int, forGood bool) {
	d := m.docs[id]
	d.run, d.gone = run, forGood
	m.docs[id] = d
	for child, c := range m.docs {
		switch {
		case c.parent != id || !m.there(child):
		case m.ruleOf(child) == parented.Orphan:
			c.parent = ""
			m.docs[child] = c
		default:
			m.hide(child, run, forGood)
		}
	}
}
