package denorm

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Fill is the hook of every write of an entity type: it fills copies, empties
// what is computed, and notes what other documents have to follow of the change.
// Copies after a change of the source: follow.go.
//
// Beside what the fillers read, it costs one read of the documents that are
// replaced, where what they held matters: for snapshots, counted references
// and links.
func (typ *entityType) Fill(ctx context.Context, w *engine.Write) error {
	f := &filling{typ: typ, w: w, entities: make([]reflect.Value, len(w.Entities)), hidden: make([]map[string]map[string]any, len(w.Entities))}
	for i, e := range w.Entities {
		f.entities[i] = reflect.ValueOf(e).Elem()
	}
	if _, always := typ.neededMembers(); always {
		if err := f.readPriors(ctx); err != nil {
			return err
		}
	}
	for _, filler := range typ.fillers {
		if err := filler.fill(ctx, f); err != nil {
			return err
		}
	}
	return f.hide()
}

// filling is one call of the hook.
type filling struct {
	typ      *entityType
	w        *engine.Write
	entities []reflect.Value
	// priors are the documents that the entities replace, once they were read.
	priors []*engine.Document
	// hidden are the members to hide beside each entity, by field.
	hidden []map[string]map[string]any
}

// leave hides beside an entity what others have to learn of one of its fields.
func (f *filling) leave(i int, name, field string, v any) {
	if f.hidden[i] == nil {
		f.hidden[i] = map[string]map[string]any{}
	}
	if f.hidden[i][name] == nil {
		f.hidden[i][name] = map[string]any{}
	}
	f.hidden[i][name][field] = v
}

func (f *filling) hide() error {
	for i, members := range f.hidden {
		for _, name := range slices.Sorted(maps.Keys(members)) {
			raw, err := engine.EncodeValue(members[name])
			if err != nil {
				return err
			}
			f.w.Hide(i, name, raw)
		}
	}
	return nil
}

// prior returns what an entity replaces, nil for nothing.
func (f *filling) prior(ctx context.Context, i int) (*engine.Document, error) {
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
	f.priors = make([]*engine.Document, len(f.entities))
	type part struct {
		key   []any
		ids   []string
		which []int
	}
	parts := map[string]*part{}
	for i := range f.entities {
		if raw := f.w.Before[i]; raw != nil {
			d, _, err := f.typ.docs.ReadForm(raw)
			if err != nil {
				return err
			}
			f.priors[i] = &d
			continue
		}
		if f.w.New[i] {
			continue
		}
		key := f.typ.docs.KeyOf(f.w.Entities[i])
		p := parts[fmt.Sprint(key)]
		if p == nil {
			p = &part{key: key}
			parts[fmt.Sprint(key)] = p
		}
		p.ids, p.which = append(p.ids, metaOf(f.w.Entities[i]).ID), append(p.which, i)
	}
	names, _ := f.typ.neededMembers()
	for _, p := range parts {
		docs, err := f.typ.docs.DocumentsByID(ctx, f.w.TenantID, p.key, distinct(slices.Clone(p.ids)), names...)
		if err != nil {
			return err
		}
		for n, i := range p.which {
			if d, ok := docs[p.ids[n]]; ok {
				f.priors[i] = &d
			}
		}
	}
	return nil
}

// neededMembers are the members of a replaced document that matter; always says that
// no write can do without them.
func (typ *entityType) neededMembers() (names []string, always bool) {
	for _, filler := range typ.fillers {
		more, must := filler.before()
		names, always = append(names, more...), always || must
	}
	return distinct(names), always
}

func metaOf(entity any) *tenantitem.Meta {
	item, ok := entity.(interface{ ItemMeta() *tenantitem.Meta })
	if !ok {
		return &tenantitem.Meta{}
	}
	return item.ItemMeta()
}

// computedFiller empties what is computed in new entities. In others it stays
// as it is stored, where that was read anyway: what the application sets there
// would be computed anew a moment later.
type computedFiller struct{ typ *entityType }

func (computedFiller) before() (names []string, always bool) { return nil, false }

func (c computedFiller) fill(_ context.Context, f *filling) error {
	for i, entity := range f.entities {
		var stored map[string]json.RawMessage
		switch {
		case f.w.New[i]:
		case f.w.Before[i] != nil:
			d, _, err := f.typ.docs.ReadForm(f.w.Before[i])
			if err != nil {
				return err
			}
			stored = d.Fields
		default:
			continue
		}
		for _, field := range c.typ.computed {
			v, ok := field.Value(entity)
			if !ok {
				continue
			}
			v.SetZero()
			if raw := stored[field.Path]; raw != nil {
				if err := engine.DecodeValue(raw, v.Addr().Interface()); err != nil {
					return fmt.Errorf("denorm: %s of document %q: %w", field.Path, metaOf(f.w.Entities[i]).ID, err)
				}
			}
		}
	}
	return nil
}
