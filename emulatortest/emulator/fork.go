package emulator

import "github.com/cosmosgrove/grove/emulatortest/emulator/internal/restapi"

// ForkOptions are what a fork has of its own; the zero value is a fork that goes on as its origin would.
type ForkOptions struct {
	// Clock is the fork's time. Defaults to [Clock.Fork] of the origin's: it begins at the same time and is turned by itself.
	Clock *Clock
	// LogLimit is how many requests the fork's log remembers. Defaults to the origin's limit.
	LogLimit int
}

// Fork gives a service whose account begins as this one is at this moment, with the same key and options. What is written in
// either from then on is not seen in the other. It costs some microseconds for each physical partition, however many items there
// are, since both share them until they change.
//
// A fork has a log and faults of its own, both empty at first, and goes on counting where the origin is: the same requests in
// the same order get the same rids, etags, session tokens and, with [Options.Seed], activity ids. It lives in memory even if
// the origin has a DataDir, and forks of forks are no different. The origin may be in use meanwhile; Fork waits for the
// requests under way.
func (s *Service) Fork(o ForkOptions) *Service {
	if o.Clock == nil {
		o.Clock = s.clock.Fork()
	}
	if o.LogLimit == 0 {
		o.LogLimit = s.log.limit
	}
	f := &Service{
		account: s.account.Fork(o.Clock.Now), random: s.random.Fork(), clock: o.Clock, log: newLog(o.LogLimit), key: s.key, principals: s.principals.Fork(),
		regions: s.regions.Fork(),
	}
	f.handler = s.handler.Fork(func(c *restapi.Config) {
		c.Account, c.Random = f.account, f.random
		c.Clock, c.Wait = o.Clock.Now, o.Clock.Wait
		c.Faults, c.Record = &f.faults, f.log.record
		c.Principals, c.Regions = f.principals, f.regions
	})
	return f
}
