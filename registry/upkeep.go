package registry

import (
	"context"
	"math/rand/v2"
	"time"
)

// defaultUpkeep is how often unfinished deletes are looked for.
const defaultUpkeep = 10 * time.Minute

// Upkeep finishes the deletes that processes which died had begun: once at
// once, and then about every [Config].Upkeep, until ctx ends. What goes wrong
// is logged and tried again the next time. Any number of processes may do so.
// It returns at once when no entity type has children or is deleted softly.
//
// With fx it runs while the application does.
func (db *Database) Upkeep(ctx context.Context) {
	interval := db.plan.cfg.Upkeep
	if interval < 0 || !db.needsUpkeep() {
		return
	}
	logger := db.plan.cfg.Logger
	for {
		resumed, err := db.forest.Resume(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			logger.WarnContext(ctx, "unfinished deletes could not all be resumed", "database", db.plan.cfg.Database, "error", err)
		case resumed.Finished+resumed.Refused > 0:
			logger.InfoContext(ctx, "finished deletes of an earlier run", "database", db.plan.cfg.Database, "finished", resumed.Finished, "takenBack", resumed.Refused)
		}
		// Processes that started together must not ask together for ever.
		timer := time.NewTimer(interval/2 + rand.N(interval))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

func (db *Database) needsUpkeep() bool {
	for _, s := range db.plan.entities {
		if s.Parent != nil || s.Policy.Retain > 0 {
			return true
		}
	}
	return false
}
