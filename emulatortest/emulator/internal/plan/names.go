package plan

import (
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
)

// names says what the names that FROM binds stand for within the container's item. Inner queries see those around them.
type names struct {
	outer *names
	name  string
	steps []sql.Step // from the item to the value; nil and false in known for a name that stands for something else
	known bool
}

func (n *names) bind(name string, steps []sql.Step, known bool) *names {
	if name == "" {
		return n
	}
	return &names{outer: n, name: name, steps: steps, known: known}
}

// find returns the steps from the item to what a name stands for.
func (n *names) find(name string) ([]sql.Step, bool) {
	for ; n != nil; n = n.outer {
		if n.name == name {
			return n.steps, n.known
		}
	}
	return nil, false
}

// path resolves the path of a source.
func (n *names) path(p *sql.Path) ([]sql.Step, bool) {
	if p.Container {
		return p.Steps, true
	}
	steps, ok := n.find(p.Root)
	return append(steps[:len(steps):len(steps)], p.Steps...), ok
}
