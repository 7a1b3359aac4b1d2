package restapi

import (
	"testing"

	"github.com/google/uuid"
)

func TestRandomRepeatsBySeedAndGoesOnInForks(t *testing.T) {
	t.Parallel()
	r := NewRandom(3)
	first := r.activityID()
	if id, err := uuid.Parse(first); err != nil || id.Version() != 4 || id.Variant() != uuid.RFC4122 {
		t.Errorf("%q is no random UUID", first)
	}
	fork, again := r.Fork(), NewRandom(3)
	if id := again.activityID(); id != first {
		t.Errorf("the seed gave %q and then %q", first, id)
	}
	id, number := r.activityID(), r.float64()
	for name, other := range map[string]*Random{"fork": fork, "again": again} {
		if otherID, otherNumber := other.activityID(), other.float64(); otherID != id || otherNumber != number {
			t.Errorf("%s went on with %q %v, want %q %v", name, otherID, otherNumber, id, number)
		}
	}
	if NewRandom(4).activityID() == first || id == first || number < 0 || number >= 1 {
		t.Errorf("%q %q %v", first, id, number)
	}
	var none *Random
	if id := none.activityID(); none.Fork() != nil || id == none.activityID() || none.float64() < 0 {
		t.Errorf("without a seed: %q, and %q again", id, none.activityID())
	}
}
