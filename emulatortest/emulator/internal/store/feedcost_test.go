package store_test

import (
	"fmt"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// TestFeedOfALogicalPartition reads the feed of one logical partition among others in pages: all its changes in their order, and
// however the changes of others lie between them, each is looked at a few times at most.
func TestFeedOfALogicalPartition(t *testing.T) {
	t.Parallel()
	for name, mine := range map[string]func(i, n int) bool{
		"every tenth":    func(i, _ int) bool { return i%10 == 0 },
		"all but a few":  func(i, _ int) bool { return i%10 != 0 },
		"the first half": func(i, n int) bool { return i < n/2 },
		"the last tenth": func(i, n int) bool { return i >= n*9/10 },
		"the ends":       func(i, n int) bool { return i < n/20 || i >= n*19/20 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, n := range []int{500, 4000} {
				b := setup(t, store.Options{}, "")
				var want []string
				for i := range n {
					pk := "others"
					if mine(i, n) {
						pk = "mine"
						want = append(want, fmt.Sprint(i))
					}
					must(b.c.CreateItem(at(pk), doc(fmt.Sprint(i), pk, i)))(t)
				}
				before, start := b.account.Visited(), store.FeedStart{}
				var got []string
				for {
					page := must(b.c.LatestVersions(store.FeedRequest{Scope: store.Scope{Key: key("mine")}, Start: start, MaxItems: 10}))(t)
					if len(page.Documents) == 0 {
						break
					}
					for _, d := range page.Documents {
						id, _ := parse(t, d).Get("id").Str()
						got = append(got, id)
					}
					start.AfterLSN = must(store.ParseFeedETag(page.ETag))(t)
				}
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%d changes: the feed told %v, want %v", n, got, want)
				}
				if each := float64(b.account.Visited()-before) / float64(n); each > 4 {
					t.Errorf("%d changes: visited %.1f times each", n, each)
				}
			}
		})
	}
}
