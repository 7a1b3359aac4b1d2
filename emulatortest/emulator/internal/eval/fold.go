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

// groupBytes is what a group takes besides its keys and its aggregates.
const groupBytes = 200

// add folds the run's present row in and reports whether evaluation may go on. What isn't retained is dropped.
func (s *folding) add(r *run) bool {
	mark := r.meter.Mark()
	defer r.meter.Drop(mark)
	at := 0
	if len(s.fold.keys) > 0 {
		var ok bool
		if at, ok = s.groupOf(r); !ok {
			return false
		}
	}
	for i, a := range s.fold.aggregates {
		mark := r.meter.Mark()
		s.groups[at].accumulators[i].add(r, a.argument(r))
		if r.meter.Drop(mark); r.err != nil {
			return false
		}
	}
	return true
}

// groupOf finds or makes the group of the run's present row.
func (s *folding) groupOf(r *run) (at int, ok bool) {
	keys := make([]value.Value, len(s.fold.keys))
	identity := make([]value.Value, len(keys))
	for i, k := range s.fold.keys {
		keys[i] = k.node(r)
		if !r.walks(keys[i]) {
			return 0, false
		}
		// Arrays can't hold undefined, which is a key of its own; one more array around defined values tells them apart.
		identity[i] = value.FromArray([]value.Value{keys[i]})
	}
	at, isNew := s.byKey.add(value.FromArray(identity))
	if isNew {
		size := groupBytes + SetBytes + len(s.fold.aggregates)*groupBytes
		for _, k := range keys {
			size += 3*elementBytes + MemoryOf(k)
		}
		if !r.keep(size) {
			return 0, false
		}
		s.newGroup(keys)
	}
	return at, true
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
