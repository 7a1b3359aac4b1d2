package store

import (
	"slices"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/index"
)

// replica is where reads come from while a lag is set: a state of earlier, and the later ones on their way to it.
type replica struct {
	lag      time.Duration
	visible  *state
	arriving []arrival
}

type arrival struct {
	written time.Time
	state   *state
}

// follow sets the lag; what is there now is visible at once.
func (r *replica) follow(lag time.Duration, s *state) {
	*r = replica{lag: lag}
	if lag != 0 {
		r.visible = s.clone()
	}
}

// wrote puts a new state on its way.
func (r *replica) wrote(s *state, now time.Time) {
	if r.lag != 0 {
		r.arriving = append(r.arriving, arrival{written: now, state: s.clone()})
	}
}

// catchUp makes visible what has had the time to arrive.
func (r *replica) catchUp(now time.Time) *state {
	for r.lag > 0 && len(r.arriving) > 0 && !r.arriving[0].written.Add(r.lag).After(now) {
		r.visible, r.arriving = r.arriving[0].state, r.arriving[1:]
	}
	return r.visible
}

// SetReplicaLag makes reads come from a replica to which a write takes d to get, by the account's clock. A read whose
// session token is ahead of the replica is 404/1002; one without a token sees the old state. Zero switches the lag off
// and a negative d holds the replica where it is until then. A split or merge makes replicas that are up to date.
func (c *Container) SetReplicaLag(d time.Duration) {
	c.topology.Lock()
	defer c.topology.Unlock()
	c.lag = d
	for _, p := range c.partitions {
		p.mu.Lock()
		p.replica.follow(d, p.state)
		p.mu.Unlock()
	}
}

// UpToDate stands in the place of how many writes a read is behind, and has it come from the state itself whatever the lag.
const UpToDate = -1

// view returns a state that does not change any more, for reading at leisure, and how to wait until it is durable. It has
// not seen that many of the latest writes.
func (p *partition) view(now time.Time, behind int) (*state, func() error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if behind > 0 {
		return p.earlier(behind), nothingToWrite
	}
	if p.replica.lag != 0 && behind != UpToDate {
		return p.replica.catchUp(now), nothingToWrite
	}
	if p.page == nil {
		p.page = p.state.clone()
	}
	return p.page, p.durable
}

// index builds what is missing of the indexes for a read of a scope. Reads from a replica that lags get along without, until
// it shows a state that was written after that.
func (p *partition) index(orders []index.Order, a area) {
	p.mu.Lock()
	defer p.mu.Unlock()
	items := p.state.byOrdinal.Len()
	if a.logical {
		l, _ := p.state.logical.Get(logicalSize{canon: a.canon})
		items = l.items
	}
	if least := p.c.account.opts.IndexFrom; least < 0 || items < least {
		return
	}
	if p.state.ensure(orders, a.logical) {
		p.page = nil
	}
}

// keptWrites is how far back a single read can be.
const keptWrites = 8

// note keeps a write for reads that have not seen it.
func (p *partition) note(versions []version) {
	if len(p.recent) == keptWrites {
		copy(p.recent, p.recent[1:])
		p.recent = p.recent[:keptWrites-1]
	}
	p.recent = append(p.recent, versions)
}

// earlier is the state before the last n writes, as far as they are kept. It needs p.mu for writing.
func (p *partition) earlier(n int) *state {
	s := p.state.clone()
	for i := len(p.recent) - 1; i >= 0 && i >= len(p.recent)-n; i-- {
		for _, v := range slices.Backward(p.recent[i]) {
			s.swap(v.after, v.before, p.c.definition.DefaultTTL)
			s.lsn = v.lsn - 1
		}
	}
	return s
}
