package emulatortest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// observe runs f under a context of its own and gives the requests that were made under it, whichever goroutine made them; what
// others do at the same time is not among them. What the SDK asks for its own caches (the account, the container, its ranges) is left
// out, since it depends on what ran before.
func observe(t testing.TB, e *Emulator, f func(ctx context.Context)) []emulator.Exchange {
	t.Helper()
	e.inProcess("Requests")
	var mu sync.Mutex
	var seen []emulator.Exchange
	f(emulator.Observe(t.Context(), func(x emulator.Exchange) {
		switch x.Operation {
		case emulator.ReadAccount, emulator.ReadContainer, emulator.ReadPartitionKeyRanges:
			return
		}
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, x)
	}))
	mu.Lock()
	defer mu.Unlock()
	return seen
}

// AssertPointRead fails the test unless f made exactly one request under its context, and that is the read of one item by id
// and partition key: the cheapest request there is. Through a network ([Serve]) no context reaches the emulator, and nothing is counted.
func AssertPointRead(t testing.TB, e *Emulator, f func(ctx context.Context)) {
	t.Helper()
	seen := observe(t, e, f)
	if len(seen) != 1 || seen[0].Operation != emulator.ReadItem {
		t.Errorf("want one point read, got\n%s%s", explain(seen), advice(seen))
	}
}

// AssertSinglePartition fails the test unless every request that f made on items under its context was for one logical
// partition. A query for several of them grows dearer with the container.
func AssertSinglePartition(t testing.TB, e *Emulator, f func(ctx context.Context)) {
	t.Helper()
	seen := observe(t, e, f)
	if len(seen) == 0 {
		t.Errorf("want requests of one logical partition, got\n%s%s", explain(seen), advice(seen))
	}
	for _, x := range seen {
		if x.FanOut || x.Partitions > 1 {
			t.Errorf("%s on %s/%s was served from more than one logical partition, of\n%s%s", x.Operation, x.Database, x.Container,
				explain(seen), advice(seen))
			return
		}
	}
}

// AssertNoFanOut fails the test when a request that f made under its context visited more than one physical partition. Such a
// request costs its share of each of them, and more with every split. No request at all is fine.
func AssertNoFanOut(t testing.TB, e *Emulator, f func(ctx context.Context)) {
	t.Helper()
	seen := observe(t, e, f)
	for _, x := range seen {
		if x.Partitions > 1 {
			t.Errorf("%s on %s/%s visited %d physical partitions, of\n%s%s", x.Operation, x.Database, x.Container, x.Partitions,
				explain(seen), advice(seen))
			return
		}
	}
}

// AssertRequestUnits fails the test when the requests that f made on items under its context cost more than that many
// request units. The emulator's charges follow the published model: right in their order of magnitude, not to the last digit.
func AssertRequestUnits(t testing.TB, e *Emulator, most float64, f func(ctx context.Context)) {
	t.Helper()
	seen := observe(t, e, f)
	total := 0.0
	for _, x := range seen {
		total += x.Charge
	}
	if total > most {
		t.Errorf("want at most %.2f request units, got %.2f for\n%s%s", most, total, explain(seen), advice(seen))
	}
}

// AssertRequests fails the test unless f made exactly these requests on items under its context, in this order. Requests of
// several goroutines have no order of their own, so that f should make them one after the other.
func AssertRequests(t testing.TB, e *Emulator, want []emulator.Operation, f func(ctx context.Context)) {
	t.Helper()
	seen := observe(t, e, f)
	got := make([]emulator.Operation, len(seen))
	for i, x := range seen {
		got[i] = x.Operation
	}
	if text, differ := difference(want, got); differ {
		t.Errorf("other requests than wanted (- is missing, + is too much):\n%s%s", text, advice(seen))
	}
}

// difference lines two lists up by their longest common part.
func difference(want, got []emulator.Operation) (text string, differ bool) {
	common := make([][]int, len(want)+1)
	for i := range common {
		common[i] = make([]int, len(got)+1)
	}
	for i := len(want) - 1; i >= 0; i-- {
		for j := len(got) - 1; j >= 0; j-- {
			if common[i][j] = max(common[i+1][j], common[i][j+1]); want[i] == got[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	var b strings.Builder
	for i, j := 0, 0; i < len(want) || j < len(got); {
		switch {
		case i < len(want) && j < len(got) && want[i] == got[j]:
			fmt.Fprintf(&b, "    %s\n", want[i])
			i, j = i+1, j+1
		case j == len(got) || (i < len(want) && common[i+1][j] >= common[i][j+1]):
			fmt.Fprintf(&b, "  - %s\n", want[i])
			i, differ = i+1, true
		default:
			fmt.Fprintf(&b, "  + %s\n", got[j])
			j, differ = j+1, true
		}
	}
	return b.String(), differ
}

// explain lists requests with what they cost and where they were served.
func explain(seen []emulator.Exchange) string {
	if len(seen) == 0 {
		return "  no request\n"
	}
	var b strings.Builder
	for i, x := range seen {
		if i == 20 {
			fmt.Fprintf(&b, "  and %d more\n", len(seen)-i)
			break
		}
		fmt.Fprintf(&b, "  %s %s/%s", x.Operation, x.Database, x.Container)
		if x.Item != "" {
			b.WriteString("/" + x.Item)
		}
		fmt.Fprintf(&b, ": %d, %.2f RU", x.Status, x.Charge)
		if x.Partitions > 1 {
			fmt.Fprintf(&b, ", %d physical partitions", x.Partitions)
		}
		if x.FanOut {
			b.WriteString(", several logical partitions")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// advice says what to change about such requests, as far as they show it.
func advice(seen []emulator.Exchange) string {
	var say []string
	counts := map[emulator.Operation]int{}
	fanOut, throttled := false, false
	for _, x := range seen {
		counts[x.Operation]++
		fanOut = fanOut || x.FanOut || x.Partitions > 1
		throttled = throttled || x.Status == 429
	}
	switch {
	case len(seen) == 0:
		say = append(say, "pass the context that f is given to what it calls: only requests under it are counted")
	case fanOut:
		say = append(say, "give the full partition key, or bind the query to one tenant and type")
	case counts[emulator.QueryItems] > 0 && len(seen) == 1:
		say = append(say, "read one item by its id and full partition key instead of querying for it")
	}
	if counts[emulator.QueryItems] > 1 {
		say = append(say, "several queries or pages: ask for larger pages, or for what they have in common at once")
	}
	if counts[emulator.ReadItem] > 1 {
		say = append(say, "several point reads: read many at once (GetMany), or keep what was read")
	}
	if counts[emulator.CreateItem]+counts[emulator.UpsertItem]+counts[emulator.ReplaceItem] > 1 {
		say = append(say, "several writes: one batch writes what shares a logical partition")
	}
	if throttled {
		say = append(say, "some were throttled and sent again")
	}
	if len(say) == 0 {
		return ""
	}
	return "to change: " + strings.Join(say, "; ") + "\n"
}
