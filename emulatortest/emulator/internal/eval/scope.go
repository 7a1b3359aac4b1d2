package eval

import (
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// node computes a value from the run's slots.
type node func(r *run) value.Value

// itemSlot holds the container's item.
const itemSlot = 0

// scope resolves names; inner scopes see outer ones.
type scope struct {
	outer *scope
	names map[string]int
	// grouped maps the text of each GROUP BY expression to its slot, while SELECT is compiled.
	grouped map[string]int
	// groupSizes has the sizes of those expressions.
	groupSizes map[int]bool
	// folded receives the aggregates of the query that is being compiled; nil where none may stand.
	folded *fold
}

func (s *scope) find(name string) (slot int, ok bool) {
	for ; s != nil; s = s.outer {
		if slot, ok = s.names[name]; ok {
			return slot, true
		}
	}
	return 0, false
}

func (s *scope) bind(name string, slot int) {
	if name == "" {
		return
	}
	if s.names == nil {
		s.names = make(map[string]int)
	}
	s.names[name] = slot
}

// compiler numbers slots and keeps the first error, so that the compile methods can be written as expressions.
type compiler struct {
	slots int
	sizes map[sql.Expr]int
	err   error
	// schema is the items', and root the name under which the query sees them.
	schema Schema
	root   string

	functions []string // the user-defined ones that are called
}

func (c *compiler) slot() int {
	c.slots++
	return c.slots - 1
}

func (c *compiler) fail(err error) node {
	if c.err == nil {
		c.err = err
	}
	return func(*run) value.Value { return value.Value{} }
}

func (c *compiler) refuse(at sql.Location, code, message string) node {
	return c.fail(&sql.SyntaxError{Code: code, Start: at.Start, End: at.End, Message: message})
}
