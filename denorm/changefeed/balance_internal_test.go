package changefeed

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// leasesOf makes leases "00-01", "01-02" and so on with these owners.
func leasesOf(owners ...string) []*lease {
	var out []*lease
	for i, owner := range owners {
		keys := keyRange{fmt.Sprintf("%02d", i), fmt.Sprintf("%02d", i+1)}
		l := &lease{ID: keys.String(), FeedRange: feedRange{keys}, Properties: map[string]string{}}
		l.setOwner(owner)
		out = append(out, l)
	}
	return out
}

func idsOf(leases []*lease) string {
	ids := ""
	for _, l := range leases {
		ids += l.ID + " "
	}
	return ids
}

func TestShare(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		leases             []*lease
		expired            string // the id of one
		running            string // the id of one that a worker here holds
		takes, asks, wants string // wants is asked for by another already
	}{
		"all are free":                    {leases: leasesOf("", "", ""), takes: "00-01 01-02 02-03 "},
		"another has some":                {leases: leasesOf("b", "", "", ""), takes: "01-02 02-03 "},
		"its own of before":               {leases: leasesOf("a", "b"), takes: "00-01 "},
		"its own, held":                   {leases: leasesOf("a", "b"), running: "00-01"},
		"a dead one's":                    {leases: leasesOf("b", "b"), expired: "01-02", takes: "01-02 "},
		"free, but held by a late worker": {leases: leasesOf("", "b"), running: "00-01"},
		"no more than one difference":     {leases: leasesOf("a", "b", "b"), running: "00-01"},
		"much less":                       {leases: leasesOf("b", "b", "b", "b"), asks: "00-01 01-02 "},
		"asked for by a third":            {leases: leasesOf("b", "b", "b", "b", "b"), wants: "00-01", asks: "01-02 02-03 "},
		"fewer leases than instances":     {leases: leasesOf("b")},
		"none":                            {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, l := range tt.leases {
				if l.ID == tt.wants {
					l.Properties[propertyHandover] = "c"
				}
			}
			take, ask := share(tt.leases, "a", map[string]bool{tt.expired: true}, func(id string) bool { return id == tt.running })
			if idsOf(take) != tt.takes || idsOf(ask) != tt.asks {
				t.Errorf("takes %q and asks for %q", idsOf(take), idsOf(ask))
			}
		})
	}
}

// The leases of a split's children wait for their parent's to go.
func TestShareLeavesChildrenOfALeaseThatIsThere(t *testing.T) {
	t.Parallel()
	parent := leasesOf("b")[0]
	child := &lease{ID: "00-005", FeedRange: feedRange{keyRange{"00", "005"}}, Properties: map[string]string{}}
	if take, _ := share([]*lease{parent, child}, "a", nil, func(string) bool { return false }); len(take) > 0 {
		t.Errorf("takes %q", idsOf(take))
	}
	if take, _ := share([]*lease{child}, "a", nil, func(string) bool { return false }); len(take) != 1 {
		t.Errorf("takes %q without the parent", idsOf(take))
	}
}

// However leases begin, instances that balance one after the other come to shares that
// differ by one at most, and then leave each other alone.
func TestSharesConverge(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		instances := []string{"a", "b", "c", "d", "e"}[:rapid.IntRange(1, 5).Draw(t, "instances")]
		leases := leasesOf(rapid.SliceOfN(rapid.SampledFrom(append([]string{""}, instances...)), 1, 24).Draw(t, "owners")...)
		round := func(instance string) (changed bool) {
			running := func(id string) bool {
				return slices.ContainsFunc(leases, func(l *lease) bool { return l.ID == id && l.owner() == instance })
			}
			for _, l := range leases { // what it was asked for
				if to := l.Properties[propertyHandover]; to != "" && l.owner() == instance {
					l.setOwner(to)
					delete(l.Properties, propertyHandover)
					changed = true
				}
			}
			take, ask := share(leases, instance, nil, running)
			for _, l := range take {
				l.acquire(instance)
			}
			for _, l := range ask {
				l.Properties[propertyHandover] = instance
			}
			return changed || len(take)+len(ask) > 0
		}
		for rounds := 0; ; rounds++ {
			changed := false
			for _, instance := range rapid.Permutation(instances).Draw(t, "order") {
				changed = round(instance) || changed
			}
			if !changed {
				break
			}
			if rounds > 8 {
				t.Fatalf("leases still move after %d rounds", rounds)
			}
		}
		counts := map[string]int{}
		for _, l := range leases {
			counts[l.owner()]++
		}
		for _, instance := range instances {
			if n := counts[instance]; n < len(leases)/len(instances) || n > (len(leases)+len(instances)-1)/len(instances) {
				t.Fatalf("%d leases: %v", len(leases), counts)
			}
		}
	})
}

func TestUncovered(t *testing.T) {
	t.Parallel()
	between := func(bounds ...string) (out []keyRange) {
		for i := 0; i < len(bounds); i += 2 {
			out = append(out, keyRange{bounds[i], bounds[i+1]})
		}
		return out
	}
	for name, tt := range map[string]struct {
		leases []keyRange
		gaps   string
	}{
		"nothing":         {nil, "[-FF]"},
		"everything":      {between("", "FF"), "[]"},
		"two halves":      {between("80", "FF", "", "80"), "[]"},
		"the beginning":   {between("40", "FF"), "[-40]"},
		"the middle":      {between("", "40", "80", "FF"), "[40-80]"},
		"the end":         {between("", "80"), "[80-FF]"},
		"overlapping":     {between("", "60", "20", "40", "50", "FF"), "[]"},
		"several":         {between("10", "20", "30", "40"), "[-10 20-30 40-FF]"},
		"padded bounds":   {between("", "8000", "80", "FF"), "[]"},
		"an empty start":  {between("00", "FF"), "[]"},
		"a parent inside": {between("", "FF", "20", "40"), "[]"},
	} {
		if got := fmt.Sprint(uncovered(keyRange{"", "FF"}, tt.leases)); got != tt.gaps {
			t.Errorf("%s: %s", name, got)
		}
	}
}
