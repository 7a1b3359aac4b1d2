package store

import (
	"slices"
	"time"
)

// Fork returns an account in memory that begins as this one is at one moment between two requests, and goes on by its own
// clock. Neither sees what is written in the other from then on. They share what they have in common, copy on write, so
// that the cost depends on the number of containers and physical partitions and not on what these hold. Numbers go on from
// where they are: the same requests give the same rids, etags and LSNs in every fork.
//
// A fork has no journal. Of a limit on throughput it takes over what is left and when that was.
func (a *Account) Fork(now func() time.Time) *Account {
	unlock := a.pause()
	defer unlock()
	opts := a.opts
	opts.Journal, opts.Now = nil, now
	f := &Account{opts: opts.withDefaults(), serial: a.serial, lag: a.lag, parsed: a.parsed}
	f.offers = make([]*offer, len(a.offers))
	for i, o := range a.offers {
		f.offers[i] = o.fork()
	}
	f.databases = make([]*Database, len(a.databases))
	for i, d := range a.databases {
		f.databases[i] = d.fork(f)
	}
	return f
}

// pause waits for the requests under way and holds back new ones until unlock is called, so that partitions can be looked
// at together.
func (a *Account) pause() (unlock func()) {
	a.mu.Lock()
	var held []func()
	for _, d := range a.databases {
		d.mu.Lock()
		held = append(held, d.mu.Unlock)
		for _, c := range d.containers {
			c.topology.Lock()
			held = append(held, c.topology.Unlock)
		}
	}
	return func() {
		for _, unlock := range slices.Backward(held) {
			unlock()
		}
		a.mu.Unlock()
	}
}

func (o *offer) fork() *offer {
	f := *o
	f.budget = o.budget.fork()
	return &f
}

func (b *budget) fork() *budget {
	b.mu.Lock()
	defer b.mu.Unlock()
	return &budget{rate: b.rate, left: b.left, since: b.since}
}

func (d *Database) fork(a *Account) *Database {
	f := &Database{account: a, serial: d.serial, resource: d.resource, clientKeys: d.clientKeys, users: d.users, deleted: d.deleted}
	f.containers = make([]*Container, len(d.containers))
	for i, c := range d.containers {
		f.containers[i] = c.fork(f)
	}
	return f
}

func (c *Container) fork(d *Database) *Container {
	f := &Container{
		account: d.account, database: d, serial: c.serial, name: c.name, rid: c.rid, ridBytes: c.ridBytes, self: c.self,
		resource: c.resource, definition: c.definition, nextRange: c.nextRange, generation: c.generation, lag: c.lag, deleted: c.deleted,
		scripts: c.scripts,
	}
	f.sequence.Store(c.sequence.Load())
	if forced := c.forced.Load(); forced != nil {
		f.forced.Store(&forcedLimit{rate: forced.rate, budget: forced.budget.fork()})
	}
	f.partitions = make([]*partition, len(c.partitions))
	for i, p := range c.partitions {
		f.partitions[i] = p.fork(f)
	}
	return f
}

// fork shares what never changes: items, versions, the page that readers share, and what a replica shows or is about to.
func (p *partition) fork(c *Container) *partition {
	p.mu.Lock()
	defer p.mu.Unlock()
	return &partition{
		c: c, id: p.id, min: p.min, max: p.max, parents: p.parents, created: p.created, version: p.version,
		state: p.state.clone(), page: p.page, history: slices.Clip(p.history), replica: p.replica.fork(), recent: slices.Clone(p.recent), durable: nothingToWrite,
	}
}

// fork clips the list, so that neither side appends into the other's.
func (r *replica) fork() replica {
	return replica{lag: r.lag, visible: r.visible, arriving: slices.Clip(r.arriving)}
}
