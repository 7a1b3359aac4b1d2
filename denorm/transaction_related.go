package denorm

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/cosmosgrove/grove/repository"
)

// family is what a transaction does to the children of one parent.
type family struct {
	rule   *kin
	parent string
	delta  int64
	// after are the children that are shown otherwise than before, as they are
	// going to be; nil for one that is a child no more.
	after map[string]*repository.Document
}

type relatedKey struct {
	rule   *kin
	parent string
}

// collectKin finds the parents that a change concerns.
func (b *beside) collectKin(c change) {
	for _, r := range c.m.outward {
		k, ok := r.(*kin)
		if !ok || !k.near {
			continue
		}
		old, now := refs(c.Before, k.ref), refs(c.After, k.ref)
		shown := len(k.recents) > 0 && k.shownOtherwise(c.Before, c.After)
		for _, id := range distinct(slices.Concat(old, now)) {
			was, is := slices.Contains(old, id), slices.Contains(now, id)
			if was == is && !shown {
				continue
			}
			key := relatedKey{k, id}
			f := b.kins[key]
			if f == nil {
				f = &family{rule: k, parent: id, after: map[string]*repository.Document{}}
				b.kins[key] = f
				b.families = append(b.families, f)
			}
			switch {
			case is && !was:
				f.delta++
			case was && !is:
				f.delta--
			}
			f.after[c.ID] = nil
			if is {
				f.after[c.ID] = c.After
			}
		}
	}
}

// shownOtherwise reports whether a card of the document would change.
func (r *kin) shownOtherwise(before, after *repository.Document) bool {
	if !alive(before) || !alive(after) {
		return true
	}
	return slices.ContainsFunc(r.recents, func(n recent) bool {
		return slices.ContainsFunc(n.card, func(name string) bool {
			return !slices.Equal(before.Fields[name], after.Fields[name])
		})
	})
}

// blindly reports whether a parent may be changed without having been read:
// where the reference is a level of the key, the parent can be expected in its
// children's partition, and adding to a count does not depend on what it was.
func (b *beside) blindly(f *family) bool {
	_, own := b.changed(f.rule.parent, f.parent)
	return !b.tx.Again && !own && len(f.rule.recents) == 0 && b.targets[targetKey{f.rule.parent, f.parent}] == nil &&
		len(validIDs([]string{f.parent})) == 1 && f.rule.child.isKey(f.rule.ref)
}

// resolveRelated changes the counts and the lists of the newest.
func (b *beside) resolveRelated(ctx context.Context) error {
	var blind []*family
	ids := map[*member][]string{}
	for _, f := range b.families {
		if b.blindly(f) {
			blind = append(blind, f)
		} else {
			ids[f.rule.parent] = append(ids[f.rule.parent], f.parent)
		}
	}
	for m, of := range ids {
		if err := b.fetch(ctx, m, of); err != nil {
			return err
		}
	}
	for _, f := range blind {
		if key := (targetKey{f.rule.parent, f.parent}); b.targets[key] == nil {
			b.add(key.m, &target{m: key.m, doc: repository.Document{ID: f.parent, Key: b.tx.Key}})
		}
	}
	for _, f := range b.families {
		t := b.targets[targetKey{f.rule.parent, f.parent}]
		if t == nil {
			continue // it lies elsewhere, or is deleted
		}
		if f.delta != 0 {
			f.count(t)
		}
		for _, n := range f.rule.recents {
			if err := b.show(ctx, f, n, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// count changes the counts in a parent. One that holds something else than a
// number is left to the keeper.
func (f *family) count(t *target) {
	for _, field := range f.rule.counts {
		have := int64(0)
		raw := t.now(field.Path)
		null := string(raw) == "null" // which can't be added to
		if raw != nil && !null {
			n, err := strconv.ParseInt(string(raw), 10, 64)
			if err != nil {
				continue
			}
			have = n
		}
		if t.own || null || t.sets[field.Path] != nil {
			t.set(field.Path, strconv.AppendInt(nil, have+f.delta, 10))
		} else {
			t.incs = append(t.incs, repository.MemberIncrement{Pointer: "/" + escapePointer(field.Path), By: f.delta})
		}
	}
}

// show changes a list of the newest.
func (b *beside) show(ctx context.Context, f *family, n recent, t *target) error {
	t.looked = true
	next, ok := f.within(n, t.now(n.field.Path))
	if !ok {
		var err error
		if next, err = f.anew(ctx, b.tx.TenantID, n); err != nil {
			return err
		}
	}
	raw, err := f.rule.store(n, next)
	if err != nil {
		return err
	}
	if same, err := sameValue(n.field.Type, t.now(n.field.Path), raw); err != nil || same {
		return nil //nolint:nilerr // a list of another shape is left to the keeper
	}
	t.set(n.field.Path, raw)
	return nil
}

// within changes the stored list, where it tells enough: its cards know the
// children's ids, and none has to be filled in for one that went.
func (f *family) within(n recent, stored json.RawMessage) ([]map[string]json.RawMessage, bool) {
	var cards []map[string]json.RawMessage
	if !slices.Contains(n.card, "id") || stored != nil && repository.DecodeValue(stored, &cards) != nil {
		return nil, false
	}
	full := len(cards) >= n.n
	gone := false
	cards = slices.DeleteFunc(cards, func(card map[string]json.RawMessage) bool {
		after, changed := f.after[idOf(card)]
		gone = gone || changed && after == nil
		return changed
	})
	if gone && full {
		return nil, false
	}
	return f.newest(n, cards), true
}

// anew asks for the newest children as they are stored and puts the changed
// ones among them.
func (f *family) anew(ctx context.Context, tenant string, n recent) ([]map[string]json.RawMessage, error) {
	var cards []map[string]json.RawMessage
	q := f.rule.of(f.parent).OrderByDesc("id").Limit(n.n + len(f.after))
	for d, err := range f.rule.child.docs.Documents(ctx, tenant, f.rule.child.keyOfRef(f.rule.ref.Path, f.parent), q, append([]string{"id"}, n.card...)...) {
		if err != nil {
			return nil, err
		}
		if _, changed := f.after[d.ID]; !changed {
			cards = append(cards, d.Fields)
		}
	}
	return f.newest(n, cards), nil
}

// newest puts the changed children among the cards of others.
func (f *family) newest(n recent, cards []map[string]json.RawMessage) []map[string]json.RawMessage {
	for _, d := range f.after {
		if d != nil {
			cards = append(cards, d.Fields)
		}
	}
	slices.SortFunc(cards, func(a, b map[string]json.RawMessage) int { return strings.Compare(idOf(b), idOf(a)) })
	return cards[:min(len(cards), n.n)]
}

func idOf(members map[string]json.RawMessage) string { return holder{members: members}.text("id") }
