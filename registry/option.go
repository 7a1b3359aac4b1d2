package registry

import (
	"github.com/cosmosgrove/grove/tenantitem"
)

// Option changes how an entity type is stored. See [In], [Named] and [TTL].
type Option interface{ apply(*entity) error }

type optionFunc func(*entity) error

func (f optionFunc) apply(s *entity) error { return f(s) }

// In stores the entity type in a container of [Config].Containers instead of the
// default one.
func In(container string) Option {
	return optionFunc(func(s *entity) error {
		s.Container = container
		return nil
	})
}

// Named gives the entity type a stored name other than the Go type's, and older
// names that are read as this entity type too. Documents keep the name that they
// were written under. Give a name before the Go type is renamed:
// Named("note", "Note") reads what was stored while the type was Note and had
// none.
func Named(name string, aliases ...string) Option {
	return optionFunc(func(s *entity) error {
		for _, n := range append([]string{name}, aliases...) {
			// What may stand in an address is checked once it is known whether
			// the entity type has a Layout; what others store is free of that.
			if err := tenantitem.ValidateKeyValue("entity type", n); err != nil {
				return err
			}
		}
		s.EntityType, s.Aliases = name, aliases
		return nil
	})
}

// UniqueIDs says that no two documents of the entity type in a tenant have one id,
// though the key of its container would allow it (/tenantId,/city). So it is where ids
// are left to Grove. Its children name it by the id alone then. Without this, an entity
// type under such a key can have only children that have the same fields ("city") and
// name their parent by them too; buckets have none.
func UniqueIDs() Option {
	return optionFunc(func(s *entity) error {
		s.uniqueIDs = true
		return nil
	})
}
