package emulatortest

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// unkindness is one thing that the service may do at any time and a friendly emulator does not.
type unkindness struct {
	share float64 // of the requests that it fits
	fault emulator.Fault
	times int // in an account; 0 is without an end
}

// unkind lists what [Unkind] switches on. What a correct client has to bear belongs here, and nothing that loses an answer.
func unkind() []unkindness {
	pages := []emulator.Operation{emulator.QueryItems, emulator.ListItems}
	reads := []emulator.Operation{emulator.ReadItem, emulator.QueryItems}
	writes := []emulator.Operation{
		emulator.CreateItem, emulator.ReplaceItem, emulator.UpsertItem, emulator.PatchItem, emulator.DeleteItem, emulator.TransactionalBatch,
	}
	return []unkindness{
		{0.10, emulator.EmptyPage().On(pages...), 0},
		{0.10, emulator.ShortPage(1).On(append(pages, emulator.ChangeFeed)...), 0},
		{0.20, emulator.OtherForm().On(append(pages, emulator.ReadItem, emulator.ChangeFeed)...), 0},
		{0.05, emulator.Behind(1).On(reads...), 0},
		{0.02, emulator.Throttle(time.Millisecond).On(append(reads, writes...)...), 0},
		{0.02, emulator.Answer(449, 0).On(writes...), 0},
		// A query over all partitions meets the more splits the more there were before it.
		{0.005, emulator.Split().On(append(reads, writes...)...), 8},
	}
}

// Unkind switches on, all at once and reproducibly by the seed, what the service may do and a friendly emulator does not:
// empty and early-cut pages, reads from replicas that are behind, documents with their members in another order,
// continuation tokens that change their form, throttling and 449 now and then, eight splits at most, and header names in
// lower case. Numbers are doubles, and ties come in the order in which an index was read, also without it. Code that keeps
// its session tokens and follows continuations notices none of it, but in the number of its requests. It loses no answer
// and refuses nothing for good; [Explore] does that. The environment variable GROVE_UNKIND, set to a seed, switches it on
// for every account that tests make, but for those that are [Calm].
func Unkind(seed uint64) Option {
	return optionFunc(func(s *settings) {
		s.needs("Unkind")
		s.unkind, s.calm = &seed, false
	})
}

// Calm keeps what [Unkind] lists away from the account, also where GROVE_UNKIND is set. It is for tests that count requests, set
// faults of their own or compare with a client that does without Grove's retries; say at the test which of them it is.
func Calm() Option {
	return optionFunc(func(s *settings) { s.unkind, s.calm = nil, true })
}

// applyUnkind adds what the option or the environment asks for.
func (s *settings) applyUnkind(t testing.TB) {
	t.Helper()
	if text := os.Getenv("GROVE_UNKIND"); text != "" && s.unkind == nil && !s.calm {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("GROVE_UNKIND: %v: use a number", err)
		}
		s.unkind = &seed
	}
	if s.unkind == nil {
		return
	}
	s.service.LowerCaseHeaders = true
	for i, u := range unkind() {
		fault := u.fault.Keep()
		if u.times > 0 {
			fault = fault.Times(u.times)
		}
		s.faults = append(s.faults, fault.Probability(u.share, *s.unkind+uint64(i)))
	}
}
