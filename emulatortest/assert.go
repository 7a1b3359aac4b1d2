package emulatortest

import (
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// observe runs f and gives the requests on items that ended meanwhile. What the SDK asks for its own caches (the account,
// the container, its ranges) is left out, since it depends on what ran before. Requests that other goroutines made at the same time are in.
func observe(e *Emulator, f func()) []emulator.Exchange {
	log := e.Requests()
	mark := log.Mark()
	f()
	var seen []emulator.Exchange
	for _, x := range log.Since(mark) {
		switch x.Operation {
		case emulator.ReadAccount, emulator.ReadContainer, emulator.ReadPartitionKeyRanges:
		default:
			seen = append(seen, x)
		}
	}
	return seen
}

// AssertPointRead fails the test unless f made exactly one request, and that is the read of one item by id and partition
// key: the cheapest request there is.
func AssertPointRead(t testing.TB, e *Emulator, f func()) {
	t.Helper()
	seen := observe(e, f)
	if len(seen) != 1 || seen[0].Operation != emulator.ReadItem {
		t.Errorf("want one point read, got %s (read the item by its id and full partition key)", describe(seen))
	}
}

// AssertSinglePartition fails the test unless every request that f made on items was for one logical partition. A query
// for several of them grows dearer with the container.
func AssertSinglePartition(t testing.TB, e *Emulator, f func()) {
	t.Helper()
	seen := observe(e, f)
	if len(seen) == 0 {
		t.Error("want requests of one logical partition, got no request at all")
	}
	for _, x := range seen {
		if x.FanOut || x.Partitions > 1 {
			t.Errorf("%s on %s/%s was served from more than one logical partition (give the full partition key)",
				x.Operation, x.Database, x.Container)
		}
	}
}

// AssertRequestUnits fails the test when the requests that f made on items cost more than that many request units. The
// emulator's charges follow the published model: right in their order of magnitude, not to the last digit.
func AssertRequestUnits(t testing.TB, e *Emulator, most float64, f func()) {
	t.Helper()
	seen := observe(e, f)
	total := 0.0
	for _, x := range seen {
		total += x.Charge
	}
	if total > most {
		t.Errorf("want at most %.2f request units, got %.2f for %s", most, total, describe(seen))
	}
}

func describe(seen []emulator.Exchange) string {
	if len(seen) == 0 {
		return "no request"
	}
	text := ""
	for i, x := range seen {
		if i > 0 {
			text += ", "
		}
		if i == 10 {
			return text + "and more"
		}
		text += string(x.Operation)
	}
	return text
}
