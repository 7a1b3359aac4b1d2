package emulatortest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// plan decides a run: who begins, who overtakes whom where, which request goes wrong and how. Which plans are tried, in which
// order, is said by explore in explorer.go.
//
// The current actor goes on until it ends, dies, or does nothing for a while; then the next one in the order of the scenario,
// beginning behind it, goes on. A plan with priorities has no current actor: of those that have a request, the one with the highest
// priority goes.
type plan struct {
	start    int // the actor that begins
	switches []switching
	faults   []placed
	// priorities are all actors, the highest first; empty for an order by start and switches. At each of lowered, counted in requests of all
	// actors, the one that has just made that request falls to the lowest.
	priorities, lowered []int
	// inner decides between requests that one actor makes at the same time, and between background actors and others; 0
	// is a fixed order.
	inner uint64
	// forgotten is a write that is acknowledged and has no effect: a sabotage of the explorer's own.
	forgotten *placed
}

// switching lets another actor go on right before an actor's n-th request.
type switching struct {
	actor, n, to int
}

// placed is a fault at an actor's n-th request.
type placed struct {
	actor, n, kind int
}

// clone makes a plan whose slices can be changed.
func (p plan) clone() plan {
	p.switches, p.faults, p.lowered = slices.Clone(p.switches), slices.Clone(p.faults), slices.Clone(p.lowered)
	return p
}

// encode writes the plan in the form of EXPLORE_SEED, as in start=restorer,deleter:3>restorer,deleter:4!cut-after.
func (x *explorer) encode(p plan) string {
	name := func(i int) string { return x.scenario.Actors[i].Name }
	parts := []string{"start=" + name(p.start)}
	if len(p.priorities) > 0 {
		names := make([]string, len(p.priorities))
		for i, actor := range p.priorities {
			names[i] = name(actor)
		}
		parts = append(parts, "priorities="+strings.Join(names, ">"))
	}
	for _, n := range p.lowered {
		parts = append(parts, "lowered="+strconv.Itoa(n))
	}
	if p.inner != 0 {
		parts = append(parts, "inner="+strconv.FormatUint(p.inner, 10))
	}
	for _, s := range p.switches {
		parts = append(parts, fmt.Sprintf("%s:%d>%s", name(s.actor), s.n, name(s.to)))
	}
	for _, f := range p.faults {
		parts = append(parts, fmt.Sprintf("%s:%d!%s", name(f.actor), f.n, x.kinds[f.kind].Name))
	}
	return strings.Join(parts, ",")
}

// decode reads what encode wrote.
func (x *explorer) decode(text string) (plan, error) {
	var p plan
	for part := range strings.SplitSeq(text, ",") {
		var err error
		switch name, value, _ := strings.Cut(part, "="); name {
		case "start":
			p.start, err = x.actorNamed(value)
		case "priorities":
			p.priorities, err = x.actorsNamed(strings.Split(value, ">"))
		case "lowered":
			var n int
			n, err = strconv.Atoi(value)
			p.lowered = append(p.lowered, n)
		case "inner":
			p.inner, err = strconv.ParseUint(value, 10, 64)
		default:
			err = x.decodeStep(&p, part)
		}
		if err != nil {
			return p, fmt.Errorf("EXPLORE_SEED: %q: %w", part, err)
		}
	}
	return p, nil
}

var errSeed = errors.New("want actor:n>actor or actor:n!fault")

func (x *explorer) decodeStep(p *plan, part string) error {
	at := strings.IndexAny(part, ">!")
	colon := strings.LastIndexByte(part[:max(at, 0)], ':')
	if colon < 0 {
		return errSeed
	}
	actor, err := x.actorNamed(part[:colon])
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(part[colon+1 : at])
	if err != nil || n < 1 {
		return errSeed
	}
	what := part[at+1:]
	if part[at] == '>' {
		to, err := x.actorNamed(what)
		p.switches = append(p.switches, switching{actor: actor, n: n, to: to})
		return err
	}
	kind := slices.IndexFunc(x.kinds, func(k FaultKind) bool { return k.Name == what })
	if kind < 0 {
		return fmt.Errorf("no kind of fault is called %q", what)
	}
	p.faults = append(p.faults, placed{actor: actor, n: n, kind: kind})
	return nil
}

func (x *explorer) actorNamed(name string) (int, error) {
	i := slices.IndexFunc(x.scenario.Actors, func(a Actor) bool { return a.Name == name })
	if i < 0 {
		return 0, fmt.Errorf("no actor is called %q", name)
	}
	return i, nil
}

// actorsNamed wants every actor once.
func (x *explorer) actorsNamed(names []string) ([]int, error) {
	var actors []int
	for _, name := range names {
		i, err := x.actorNamed(name)
		if err != nil {
			return nil, err
		}
		if slices.Contains(actors, i) {
			return nil, fmt.Errorf("the actor %q has two priorities", name)
		}
		actors = append(actors, i)
	}
	if len(actors) != len(x.scenario.Actors) {
		return nil, fmt.Errorf("%d of %d actors have a priority", len(actors), len(x.scenario.Actors))
	}
	return actors, nil
}
