package emulatortest

import (
	"fmt"
	"slices"
)

// everyFault tries every kind of fault at every request that the undisturbed run made in that order.
func (x *explorer) everyFault(start int, baseline result) *Finding {
	for _, f := range x.placements(baseline) {
		x.coverage.FaultsPossible++
		p := plan{start: start, faults: []placed{f}}
		r := x.run(p, nil)
		if len(r.missed) > 0 && r.failure == "" {
			return &Finding{
				Promise: fmt.Sprintf("the fault %s at request %d of %s never happened: the scenario doesn't make the same requests each time "+
					"(it goes by the wall clock, by chance, or by a variable that one run leaves to the next)",
					x.kinds[f.kind].Name, f.n, x.scenario.Actors[f.actor].Name),
				Seed: x.encode(p), Schedule: x.table(p, r),
			}
		}
		if r.failure != "" {
			return x.shrink(p, r)
		}
		x.coverage.Faults++
		x.follow(start, f, r)
	}
	return nil
}

// placements are the faults that fit the requests of a run.
func (x *explorer) placements(r result) []placed {
	var all []placed
	for _, row := range r.rows {
		if row.request.Late {
			continue
		}
		actor := slices.IndexFunc(x.scenario.Actors, func(a Actor) bool { return a.Name == row.request.Actor })
		for k, kind := range x.kinds {
			if kind.Fits == nil || kind.Fits(row.request) {
				all = append(all, placed{actor: actor, n: row.request.N, kind: k})
			}
		}
	}
	return all
}

// overtakings are the places at which one actor can go before another one's request: in the field's words, the schedules with
// one preemption.
func (x *explorer) overtakings(start int, baseline result) []switching {
	var all []switching
	for to, a := range x.scenario.Actors {
		if to == start || a.Background {
			continue
		}
		for n := 1; n <= baseline.sent[start]; n++ {
			all = append(all, switching{actor: start, n: n, to: to})
		}
	}
	return all
}

func (x *explorer) everyOvertaking(start int, baseline result) *Finding {
	for _, s := range x.overtakings(start, baseline) {
		x.coverage.OvertakingsPossible++
		p := plan{start: start, switches: []switching{s}}
		if r := x.run(p, nil); r.failure != "" {
			return x.shrink(p, r)
		}
		x.coverage.Overtakings++
	}
	return nil
}
