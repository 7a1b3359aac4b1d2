package layout

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/internal/document"
)

// Canonical names of the header's members.
const (
	ID, Tenant, EntityType = "id", "tenantId", "entityType"

	// outside and inside hold, in a canonical document, members of others that
	// have no place of their own there: at the top of the stored document, and
	// in its envelope.
	outside, inside = "_outside", "_inside"
	// stored stands in canonical SQL for the stored document itself.
	stored = "_stored"
)

// Options describe a layout. The zero value is Grove's own form.
type Options struct {
	// EntityType is the name that a document without a type gets.
	EntityType string
	// Names maps canonical names of top-level members to stored ones.
	Names map[string]string
	// IDPrefix stands before every stored id.
	IDPrefix string
	// Envelope is the stored member that holds the entity's own fields; Outside
	// are the fields that stand beside it.
	Envelope string
	Outside  []string
	// Typeless documents have no type; with TypeOptional some have none.
	Typeless, TypeOptional bool
	// Global documents belong to no tenant.
	Global bool
	// NoMarks keeps the marks of writes out of the documents.
	NoMarks bool
	// Levels are those of the partition key.
	Levels []Level
}

// Layout maps documents, paths and queries. It is immutable.
type Layout struct {
	options Options
	names   map[string]string // canonical -> stored, where they differ
	back    map[string]string // stored -> canonical, of members outside the envelope
	within  map[string]string // the same for members inside
	absent  map[string]bool   // canonical names that are never stored
	outside map[string]bool
	added   []Level // those that no member of the canonical document fills
}

// fixed are the members whose names are the service's.
func fixed(name string) bool {
	return name == ID || name == "ttl" || slices.Contains(document.SystemMembers(), name)
}

// isHeader reports whether a canonical member stands outside of an envelope
// whatever the entity says.
func isHeader(name string) bool {
	switch name {
	case ID, Tenant, EntityType, "ttl", "deletedAt":
		return true
	}
	return strings.HasPrefix(name, "_")
}

// New checks the options and makes a layout of them. The error says what
// contradicts what; it names members and never a value.
func New(o Options) (*Layout, error) {
	l := &Layout{options: o, names: map[string]string{}, back: map[string]string{}, within: map[string]string{}, absent: map[string]bool{}, outside: map[string]bool{}}
	for _, name := range o.Outside {
		l.outside[name] = true
	}
	if o.Global {
		l.absent[Tenant] = true
	}
	if o.Typeless {
		l.absent[EntityType] = true
	}
	if o.NoMarks {
		l.absent[document.Marks], l.absent[document.Mark] = true, true
	}
	for _, r := range o.IDPrefix {
		if r < 0x20 || r > 0x7e || strings.ContainsRune(`/\?#`, r) {
			return nil, fmt.Errorf("the prefix of ids holds %q, which can't stand in one", r)
		}
	}
	if len(o.Outside) > 0 && o.Envelope == "" {
		return nil, fmt.Errorf("%q stands outside of an envelope, and there is none", o.Outside[0])
	}
	if err := l.rename(); err != nil {
		return nil, err
	}
	for _, level := range o.Levels {
		if err := l.place(level); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// rename checks the names: no member may take another one's place.
func (l *Layout) rename() error {
	for _, name := range slices.Sorted(maps.Keys(l.options.Names)) {
		to := l.options.Names[name]
		switch {
		case fixed(name):
			return fmt.Errorf("the name of %q is the service's", name)
		case to == "" || strings.ContainsAny(to, "/~"):
			return fmt.Errorf("%q can't be the name of %q", to, name)
		case fixed(to) || to == l.options.Envelope:
			return fmt.Errorf("%q can't be stored as %q, which stands for something else", name, to)
		case l.absent[name]:
			return fmt.Errorf("%q is never stored, so it needs no name", name)
		}
		if to != name {
			l.names[name] = to
		}
	}
	for name, to := range l.names {
		side := l.back
		if l.isWithin(name) {
			side = l.within
		}
		if other, taken := side[to]; taken {
			return fmt.Errorf("%q and %q are both stored as %q", min(name, other), max(name, other), to)
		}
		side[to] = name
	}
	return nil
}

// place finds out whether a level is filled by a member that stands at its path.
func (l *Layout) place(level Level) error {
	if len(level.Path) == 0 || slices.Contains(level.Path, "") {
		return fmt.Errorf("%q is not the path of a key", level)
	}
	if member := level.Source.member(); len(member) > 0 && !l.absent[member[0]] && slices.Equal(l.Path(member), level.Path) && (member[0] != ID || l.options.IDPrefix == "") {
		return nil
	}
	switch top := level.Path[0]; {
	case fixed(top) && (top != ID || level.Source.Kind != FromField || level.Source.Field != ID):
		return fmt.Errorf("the key holds %q, which is not filled like that", level)
	case top == ID && len(level.Path) == 1:
		return nil // the id itself, with its prefix
	case top == l.options.Envelope:
		return fmt.Errorf("the key holds %q, inside of the envelope, which only a field of the same name fills", level)
	}
	if member, taken := l.back[level.Path[0]]; taken {
		return fmt.Errorf("the key holds %q, where %q is stored", level, member)
	}
	if level.Source.Kind == FromTenant && l.options.Global {
		return fmt.Errorf("the key holds the tenant at %q, and the documents belong to none", level)
	}
	if level.Source.Kind == Computed && (level.Source.Compute == nil || len(level.Source.Fields) == 0) {
		return fmt.Errorf("nothing computes the key's %q", level)
	}
	l.added = append(l.added, level)
	return nil
}

// isWithin reports whether a canonical member stands in the envelope.
func (l *Layout) isWithin(name string) bool {
	return l.options.Envelope != "" && !isHeader(name) && !l.outside[name]
}

// Occupied returns the names that a field of the entity can't have, because a
// level of the key that it does not fill is stored there.
func (l *Layout) Occupied() []string {
	var out []string
	for _, level := range l.added {
		if len(level.Path) == 1 {
			out = append(out, level.Path[0])
		}
	}
	for to := range l.back {
		if _, moved := l.names[to]; !moved {
			out = append(out, to)
		}
	}
	if l.options.Envelope != "" {
		return nil // fields stand inside, where nothing else does
	}
	slices.Sort(out)
	return out
}

// IsOwnForm reports that documents have Grove's own form.
func (l *Layout) IsOwnForm() bool {
	o := &l.options
	return len(l.names) == 0 && len(l.absent) == 0 && len(l.added) == 0 && o.IDPrefix == "" && o.Envelope == "" && !o.TypeOptional
}

// Global is that of the options, as NoMarks, Typeless and TypeOptional are; nil
// is Grove's own form.
func (l *Layout) Global() bool { return l != nil && l.options.Global }

// NoMarks reports that documents hold no marks of writes.
func (l *Layout) NoMarks() bool { return l != nil && l.options.NoMarks }

// Typeless reports that documents hold no type.
func (l *Layout) Typeless() bool { return l != nil && l.options.Typeless }

// TypeOptional reports that a document without a type is of this one.
func (l *Layout) TypeOptional() bool { return l != nil && l.options.TypeOptional }

// StoredID is the stored form of an id.
func (l *Layout) StoredID(id string) string {
	if l == nil {
		return id
	}
	return l.options.IDPrefix + id
}

// IDPrefix stands before every stored id.
func (l *Layout) IDPrefix() string {
	if l == nil {
		return ""
	}
	return l.options.IDPrefix
}
