package restapi

import (
	"encoding/binary"
	"math/rand/v2"
	"sync"

	"github.com/google/uuid"
)

// Random is where a handler takes chance from: the activity ids of requests that have none, the language's RAND, and what scripts leave to chance. Nil
// takes both from the process. Its methods may be called at the same time.
type Random struct {
	mu     sync.Mutex
	source rand.PCG
}

// NewRandom gives the same sequence for the same seed.
func NewRandom(seed uint64) *Random {
	r := &Random{}
	r.source.Seed(seed, seed)
	return r
}

// Fork gives a sequence of its own that goes on as r would.
func (r *Random) Fork() *Random {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return &Random{source: r.source}
}

func (r *Random) float64() float64 {
	if r == nil {
		return rand.Float64()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return rand.New(&r.source).Float64()
}

func (r *Random) activityID() string {
	if r == nil {
		return uuid.NewString()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	const version, variant = 0x4000, 0x8000_0000_0000_0000
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], r.source.Uint64()&^0xF000|version)
	binary.BigEndian.PutUint64(id[8:], r.source.Uint64()&^(3<<62)|variant)
	return id.String()
}
