package denorm

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// fill is the hook of every write of a species: it fills copies, empties what
// is computed, and notes what somebody else has to learn of the change.
//
// It costs one read for each species of source, however many entities are
// written together, and one read of the documents that are replaced, where
// what they held matters: for snapshots, counted references and links.
func (m *member) fill(ctx context.Context, w *repository.Write) error {
	f := &filling{m: m, w: w, entities: make([]reflect.Value, len(w.Entities))}
	for i, e := range w.Entities {
		f.entities[i] = reflect.ValueOf(e).Elem()
	}
	if m.rememberingWrites() {
		if err := f.readPriors(ctx); err != nil {
			return err
		}
	}
	if err := f.keep(); err != nil {
		return err
	}
	if err := f.copy(ctx); err != nil {
		return err
	}
	if err := f.link(ctx); err != nil {
		return err
	}
	return f.remember()
}

// rememberingWrites reports whether a write must know what it replaces.
func (m *member) rememberingWrites() bool {
	return len(m.tracked) > 0 || len(m.lists) > 0 || slices.ContainsFunc(m.groups, func(g *group) bool { return len(g.snaps) > 0 })
}

// filling is one call of the hook.
type filling struct {
	m        *member
	w        *repository.Write
	entities []reflect.Value
	// priors are the documents that the entities replace, once they were read.
	priors []*repository.Document
}

// keep empties what is computed in new entities. In others it stays as it is
// stored, where that was read anyway: what the application sets there would be
// computed anew a moment later.
func (f *filling) keep() error {
	if len(f.m.kept) == 0 {
		return nil
	}
	for i, entity := range f.entities {
		var stored map[string]json.RawMessage
		switch {
		case f.w.New[i]:
		case f.w.Before[i] != nil:
			d, _, err := f.m.docs.ReadDocument(f.w.Before[i])
			if err != nil {
				return err
			}
			stored = d.Fields
		default:
			continue
		}
		for _, field := range f.m.kept {
			v, ok := field.Value(entity)
			if !ok {
				continue
			}
			v.SetZero()
			if raw := stored[field.Path]; raw != nil {
				if err := repository.DecodeValue(raw, v.Addr().Interface()); err != nil {
					return fmt.Errorf("denorm: %s of document %q: %w", field.Path, metaOf(f.w.Entities[i]).ID, err)
				}
			}
		}
	}
	return nil
}

// prior returns what an entity replaces, nil for nothing.
func (f *filling) prior(ctx context.Context, i int) (*repository.Document, error) {
	if f.priors == nil {
		if err := f.readPriors(ctx); err != nil {
			return nil, err
		}
	}
	if p := f.priors[i]; p != nil && p.DeletedAt == "" && !f.w.New[i] {
		return p, nil
	}
	return nil, nil
}

// readPriors reads what the entities replace, those of one partition together.
// When the document is another one by the time of the write, the write is
// refused for its etag.
func (f *filling) readPriors(ctx context.Context) error {
	f.priors = make([]*repository.Document, len(f.entities))
	type home struct {
		key   []any
		ids   []string
		which []int
	}
	homes := map[string]*home{}
	for i := range f.entities {
		if raw := f.w.Before[i]; raw != nil {
			d, _, err := f.m.docs.ReadDocument(raw)
			if err != nil {
				return err
			}
			f.priors[i] = &d
			continue
		}
		if f.w.New[i] {
			continue
		}
		key := f.m.keyOf(f.entities[i])
		h := homes[fmt.Sprint(key)]
		if h == nil {
			h = &home{key: key}
			homes[fmt.Sprint(key)] = h
		}
		h.ids, h.which = append(h.ids, metaOf(f.w.Entities[i]).ID), append(h.which, i)
	}
	for _, h := range homes {
		docs, err := f.m.docs.DocumentsByID(ctx, f.w.TenantID, h.key, distinct(slices.Clone(h.ids)), f.m.memory()...)
		if err != nil {
			return err
		}
		for n, i := range h.which {
			if d, ok := docs[h.ids[n]]; ok {
				f.priors[i] = &d
			}
		}
	}
	return nil
}

// memory are the members of a replaced document that matter.
func (m *member) memory() []string {
	names := []string{repository.MovedField, wishesField}
	for _, g := range m.groups {
		names = append(names, topOf(g.ref.Path))
		for _, c := range g.snaps {
			names = append(names, topOf(c.field.Path))
		}
	}
	for _, t := range m.tracked {
		names = append(names, topOf(t.Path))
	}
	for _, l := range m.lists {
		names = append(names, l.field.Path)
	}
	return distinct(names)
}

func metaOf(entity any) *tenantitem.Meta {
	item, ok := entity.(interface{ ItemMeta() *tenantitem.Meta })
	if !ok {
		return &tenantitem.Meta{}
	}
	return item.ItemMeta()
}

// link checks the ids that are new in a list, and keeps the following side's
// changes as wishes.
func (f *filling) link(ctx context.Context) error {
	for _, l := range f.m.lists {
		var added []string
		for i, entity := range f.entities {
			prior, err := f.prior(ctx, i)
			if err != nil {
				return err
			}
			now := refsOf(entity, l.field)
			var old []string
			if prior != nil {
				old = refsIn(prior.Fields, l.field)
			}
			for _, id := range now {
				if !slices.Contains(old, id) {
					added = append(added, id)
				}
			}
		}
		for _, id := range added {
			if err := tenantitem.ValidateID(id); err != nil {
				return fmt.Errorf("%s: %w", l.field.Path, err)
			}
		}
		found, err := read(ctx, l.other, f.w.TenantID, added, nil)
		if err != nil {
			return err
		}
		for _, id := range added {
			if d, ok := found[id]; !ok || d.DeletedAt != "" {
				return &parented.DanglingError{Field: l.field.Path, EntityType: l.other.name(), ID: id}
			}
		}
	}
	return nil
}

// remember hides beside each document what others have to learn of: the
// references that it had, and the wishes of its lists.
func (f *filling) remember() error {
	for i := range f.entities {
		if len(f.m.tracked) > 0 {
			if err := f.hide(i, repository.MovedField, f.moved(i)); err != nil {
				return err
			}
		}
		if len(f.m.follows) > 0 {
			if err := f.hide(i, wishesField, f.wished(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *filling) hide(i int, name string, v any) error {
	if reflect.ValueOf(v).Len() == 0 {
		return nil
	}
	raw, err := repository.EncodeValue(v)
	if err == nil {
		f.w.Hide(i, name, raw)
	}
	return err
}

// moved are the former references of a document, also of one that was deleted
// and whose id it takes.
func (f *filling) moved(i int) map[string][]string {
	prior := f.priors[i]
	if prior == nil {
		return nil
	}
	moved := movedOf(*prior)
	for _, t := range f.m.tracked {
		now := refsOf(f.entities[i], t)
		for _, id := range refsIn(prior.Fields, t) {
			if slices.Contains(now, id) || slices.Contains(moved[t.Path], id) {
				continue
			}
			if moved == nil {
				moved = map[string][]string{}
			}
			moved[t.Path] = append(moved[t.Path], id)
		}
	}
	return moved
}

// wished are the wishes of a document after this write.
func (f *filling) wished(i int) map[string]wishes {
	prior := f.priors[i]
	out := map[string]wishes{}
	for _, l := range f.m.follows {
		var old []string
		var w wishes
		if prior != nil {
			old = refsIn(prior.Fields, l.otherField)
			w = wishesIn(prior.Fields)[l.otherField.Path]
		}
		w = w.change(old, refsOf(f.entities[i], l.otherField))
		if len(w.Add)+len(w.Remove) > 0 {
			out[l.otherField.Path] = w
		}
	}
	return out
}
