package emulatortest

import (
	"fmt"
	"maps"
	"slices"
)

// sabotages tries whether the check notices what is broken on purpose.
func (x *explorer) sabotages(starts []int, baselines []result) *Finding {
	if len(x.options.Sabotage) == 0 {
		return x.forgottenWrites(starts, baselines)
	}
	for _, name := range slices.Sorted(maps.Keys(x.options.Sabotage)) {
		if !x.noticed(x.options.Sabotage[name], starts, baselines) {
			return &Finding{Promise: fmt.Sprintf("the sabotage %q went unnoticed: Check can't fail for it", name)}
		}
		x.coverage.Sabotages++
	}
	return nil
}

// forgottenWrites tries whether the check notices that an acknowledged write is not there.
func (x *explorer) forgottenWrites(starts []int, baselines []result) *Finding {
	writes := 0
	for i, start := range starts {
		for _, row := range baselines[i].rows {
			if !row.request.IsWrite() {
				continue
			}
			writes++
			actor, _ := x.actorNamed(row.request.Actor) // a row is of an actor
			if x.run(plan{start: start, forgotten: &placed{actor: actor, n: row.request.N}}, nil).failure != "" {
				x.coverage.Sabotages++
				return nil
			}
		}
	}
	if writes == 0 {
		return nil
	}
	return &Finding{Promise: fmt.Sprintf("each of the actors' %d writes can be forgotten behind its acknowledgement, and Check does not notice: "+
		"name a Sabotage that it has to notice, if that is as it should be", writes)}
}

func (x *explorer) noticed(sabotage func(*World), starts []int, baselines []result) bool {
	for i, start := range starts {
		if x.run(plan{start: start}, sabotage).failure != "" {
			return true
		}
		for _, s := range x.overtakings(start, baselines[i]) {
			if x.run(plan{start: start, switches: []switching{s}}, sabotage).failure != "" {
				return true
			}
		}
		for _, f := range x.placements(baselines[i]) {
			if x.run(plan{start: start, faults: []placed{f}}, sabotage).failure != "" {
				return true
			}
		}
	}
	return false
}
