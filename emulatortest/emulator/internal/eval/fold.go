package eval

import (
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// fold is the GROUP BY of a query and the aggregates of its SELECT.
type fold struct {
	keys       []foldKey
	aggregates []foldAggregate
}

type foldKey struct {
	slot int
	node node
}

type foldAggregate struct {
	slot     int
	argument node
	create   func() accumulator
}

// folding is the state of one fold: its groups in the order in which they came up.
type folding struct {
	fold   *fold
	byKey  *Set
	groups []group
}

type group struct {
	keys         []value.Value
	accumulators []accumulator
}

func (f *fold) start() *folding {
	s := &folding{fold: f, byKey: NewSet()}
	if len(f.keys) == 0 {
		s.newGroup(nil) // aggregates without GROUP BY have a result even over no rows
	}
	return s
}

func (s *folding) newGroup(keys []value.Value) {
	g := group{keys: keys, accumulators: make([]accumulator, len(s.fold.aggregates))}
	for i, a := range s.fold.aggregates {
		g.accumulators[i] = a.create()
	}
	s.groups = append(s.groups, g)
}

// add folds the run's present row in and reports whether evaluation may go on.
func (s *folding) add(r *run) bool {
	at := 0
	if len(s.fold.keys) > 0 {
		keys := make([]value.Value, len(s.fold.keys))
		identity := make([]value.Value, len(keys))
		for i, k := range s.fold.keys {
			keys[i] = k.node(r)
			if !r.fits(sizeUpTo(keys[i], r.env.Limits.Text)) {
				return false
			}
			// Arrays can't hold undefined, which is a key of its own; one more array around defined values tells them apart.
			identity[i] = value.FromArray([]value.Value{keys[i]})
		}
		var isNew bool
		if at, isNew = s.byKey.add(value.FromArray(identity)); isNew {
			s.newGroup(keys)
		}
	}
	for i, a := range s.fold.aggregates {
		s.groups[at].accumulators[i].add(r, a.argument(r))
	}
	return r.err == nil
}

// load puts a group's keys and results where SELECT looks for them.
func (s *folding) load(r *run, i int) {
	g := s.groups[i]
	for j, k := range s.fold.keys {
		r.slots[k.slot] = g.keys[j]
	}
	for j, a := range s.fold.aggregates {
		r.slots[a.slot] = g.accumulators[j].result()
	}
}
