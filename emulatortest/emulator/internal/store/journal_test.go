package store_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// memoryJournal is a journal without a disk; package durable has the one with. Once broken it fails for ever.
type memoryJournal struct {
	mu      sync.Mutex
	records map[string][]byte
	broken  error
}

func (j *memoryJournal) Append(unit []store.Mutation) func() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.broken; err != nil {
		return func() error { return err }
	}
	if j.records == nil {
		j.records = map[string][]byte{}
	}
	for _, m := range unit {
		switch {
		case m.Prefix:
			maps.DeleteFunc(j.records, func(k string, _ []byte) bool { return strings.HasPrefix(k, m.Key) })
		case m.Value == nil:
			delete(j.records, m.Key)
		default:
			j.records[m.Key] = slices.Clone(m.Value)
		}
	}
	return func() error { return nil }
}

func (j *memoryJournal) Load(yield func(string, []byte) error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, k := range slices.Sorted(maps.Keys(j.records)) {
		if err := yield(k, slices.Clone(j.records[k])); err != nil {
			return err
		}
	}
	return nil
}

func (j *memoryJournal) Close() error { return nil }

func (j *memoryJournal) fail(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.broken = err
}

// A write that the journal could not keep must not be acknowledged, and reads must not show it as if it were safe.
func TestJournal_failure(t *testing.T) {
	t.Parallel()
	j := &memoryJournal{}
	b := setup(t, store.Options{Journal: j}, "")
	must(b.c.CreateItem(at("p"), doc("a", "p", 1)))(t)
	j.fail(errors.New("the disk is full"))
	_, err := b.c.UpsertItem(at("p"), doc("a", "p", 2))
	wantError(t, err, 503, 0)
	_, err = b.c.ReadItem(at("p"), "a")
	wantError(t, err, 503, 0)
	_, err = b.c.Snapshot(store.Scope{}, "")
	wantError(t, err, 503, 0)
	_, err = b.c.LatestVersions(store.FeedRequest{})
	wantError(t, err, 503, 0)
	_, err = b.c.Batch(at("p"), []store.Operation{{Kind: store.OpUpsert, Body: doc("a", "p", 2)}})
	wantError(t, err, 503, 0)
	_, err = b.c.Bulk(at("p"), []store.Operation{{Kind: store.OpUpsert, Body: doc("a", "p", 2)}})
	wantError(t, err, 503, 0)
	_, err = b.c.Split("0")
	wantError(t, err, 503, 0)
	_, err = b.db.CreateContainer([]byte(`{"id":"d"}`), store.Throughput{})
	wantError(t, err, 503, 0)
	wantError(t, b.c.Delete(store.Precondition{}), 503, 0)
	if err != nil && strings.Contains(err.Error(), "full") {
		t.Errorf("the answer tells the disk's business: %v", err)
	}
}

func TestJournal_isEmptyAfterEverythingIsDeleted(t *testing.T) {
	t.Parallel()
	j := &memoryJournal{}
	b := setup(t, store.Options{Journal: j, Partitions: 3}, allVersionsContainer)
	for i := range 5 {
		must(b.c.CreateItem(at("p"), doc(fmt.Sprint(i), "p", i)))(t)
	}
	must(b.c.Split("0"))(t)
	wantError(t, b.db.Delete(store.Precondition{}), 0, 0)
	delete(j.records, "a") // the counter of rids stays for ever
	if len(j.records) != 0 {
		t.Errorf("left over: %q", slices.Sorted(maps.Keys(j.records)))
	}
}

func TestOpen_malformedJournal(t *testing.T) {
	t.Parallel()
	for key, text := range map[string]string{
		"unknown/key": "x", "d/AAAA": "{", "c/AAAA": "[]", "o/AAAA": "1", "p/AAAA/12345678": "{", "i/AAAA/1": "x", "v/AAAA": "",
	} {
		j := &memoryJournal{records: map[string][]byte{"a": {1}, key: []byte(text)}}
		if _, err := store.Open(store.Options{Journal: j}); err == nil {
			t.Errorf("a record %s with %q passed", key, text)
		}
	}
}

// FuzzOpen damages one record of a journal: opening it fails or works, and never panics.
func FuzzOpen(f *testing.F) {
	f.Add(uint(0), uint(3), byte(0xFF))
	f.Add(uint(2), uint(0), byte(0))
	f.Fuzz(func(t *testing.T, record, at uint, b byte) {
		j := &memoryJournal{}
		bundle := setup(t, store.Options{Journal: j}, allVersionsContainer)
		must(bundle.c.CreateItem(store.Call{KeyFromBody: true}, doc("a", "p", 1)))(t)
		must(bundle.c.UpsertItem(store.Call{KeyFromBody: true}, doc("a", "p", 2)))(t)
		keys := slices.Sorted(maps.Keys(j.records))
		text := j.records[keys[record%uint(len(keys))]]
		text[at%uint(len(text))] = b
		account, err := store.Open(store.Options{Journal: j})
		if err == nil {
			account.Databases()
		}
	})
}
