package emulatortest

import (
	"math/rand/v2"
	"slices"
	"time"
)

// byChance tries pairs of faults and further orders until the budget is used up.
func (x *explorer) byChance(starts []int, baselines []result) *Finding {
	pairs := x.pairs
	x.coverage.PairsPossible = len(pairs)
	random := rand.New(rand.NewPCG(x.options.Seed, 1))
	random.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	tried := map[string]bool{}
	for same, step := 0, 0; time.Now().Before(x.until) && same < 1000; step++ {
		i := random.IntN(len(starts))
		p := x.chance(random, starts[i], baselines[i])
		if x.coverage.Pairs < len(pairs) && step%2 == 0 {
			p = pairs[x.coverage.Pairs]
			x.coverage.Pairs++
		}
		text := x.encode(p)
		if tried[text] {
			same++
			continue
		}
		same, tried[text] = 0, true
		r := x.run(p, nil)
		if r.failure != "" {
			return x.shrink(p, r)
		}
	}
	return nil
}

// follow notes the pairs of a fault with each one at a request that came behind it, in the run that the first one made.
func (x *explorer) follow(start int, first placed, r result) {
	const most = 1 << 20
	at := slices.IndexFunc(r.rows, func(row *row) bool {
		return row.request.Actor == x.scenario.Actors[first.actor].Name && row.request.N == first.n
	})
	for _, second := range x.placements(result{rows: r.rows[at+1:]}) {
		if len(x.pairs) < most {
			x.pairs = append(x.pairs, plan{start: start, faults: []placed{first, second}})
		}
	}
}

// chance makes a plan of an order and up to two faults. Half of the orders are those of probabilistic concurrency testing (Burckhardt and
// others, ASPLOS 2010): priorities by chance, and few requests behind which the actor loses its own, since most races need few changes. The
// other half are a few places at which one actor overtakes another, which can be shrunk.
func (x *explorer) chance(random *rand.Rand, start int, baseline result) plan {
	p := plan{start: start}
	switch {
	case len(x.scenario.Actors) == 1:
		p.inner = uint64(random.IntN(2)) * random.Uint64N(1<<16) //nolint:gosec // 0 or 1
	case random.IntN(2) == 0:
		p.priorities = random.Perm(len(x.scenario.Actors))
		for range 1 + random.IntN(3) {
			p.lowered = append(p.lowered, 1+random.IntN(len(baseline.rows)+2))
		}
		p.inner = random.Uint64N(1 << 16)
	default:
		for range random.IntN(4) {
			from, to := random.IntN(len(x.scenario.Actors)), random.IntN(len(x.scenario.Actors))
			if from != to && baseline.sent[from] > 0 {
				p.switches = append(p.switches, switching{actor: from, n: 1 + random.IntN(baseline.sent[from]+2), to: to})
			}
		}
		p.inner = random.Uint64N(1 << 16)
	}
	places := x.placements(baseline)
	want := 2
	if len(p.switches)+len(p.priorities) > 0 {
		want = random.IntN(3)
	}
	for len(p.faults) < want && len(places) > 1 {
		f := places[random.IntN(len(places))]
		f.n += random.IntN(2) // a fault can make more requests follow, which no undisturbed run has
		if !slices.ContainsFunc(p.faults, func(other placed) bool { return other == f }) {
			p.faults = append(p.faults, f)
		}
	}
	return p
}

// asSwitches is a plan without priorities that makes the requests of a run in the same order.
func (x *explorer) asSwitches(p plan, r result) plan {
	actors := make([]int, 0, len(r.rows))
	left := make([]int, len(x.scenario.Actors)) // requests that an actor has still to make
	for _, row := range r.rows {
		if actor, err := x.actorNamed(row.request.Actor); err == nil && !row.request.Late {
			actors = append(actors, actor)
			left[actor]++
		}
	}
	out := p.clone()
	out.priorities, out.lowered, out.switches = nil, nil, nil
	sent := make([]int, len(left))
	for i, actor := range actors {
		if i == 0 {
			out.start = actor
		} else if before := actors[i-1]; before != actor && left[before] > 0 {
			out.switches = append(out.switches, switching{actor: before, n: sent[before] + 1, to: actor})
		}
		sent[actor]++
		left[actor]--
	}
	return out
}
