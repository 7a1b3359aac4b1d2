// Package durable keeps an emulated account in a folder, in one bbolt file. It implements [store.Journal]: what the
// journal has acknowledged survives the process being killed at any instant, and units of mutations are kept whole.
//
//	journal, err := durable.Open(dir)
//	...
//	account, err := store.Open(store.Options{Journal: journal})
//
// Writers don't pay for a sync of the disk each: a single goroutine commits everything that has queued up while the last
// commit was under way.
package durable

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

const (
	fileName      = "account.db"
	formatVersion = "1"
	// lockTimeout is how long Open waits for another process to let go of the folder.
	lockTimeout = time.Second
)

// ErrClosed is returned for what is appended after Close.
var ErrClosed = errors.New("the journal is closed")

// Journal is an open folder. Its methods may be called from several goroutines.
type Journal struct {
	db *bbolt.DB

	mu      sync.Mutex
	pending *commit
	failed  error
	closed  bool

	wake    chan struct{}
	stopped chan struct{}
}

var _ store.Journal = (*Journal)(nil)

// commit is the units that will be made durable together.
type commit struct {
	mutations []store.Mutation
	done      chan struct{}
	err       error // valid once done is closed
}

func (c *commit) wait() error {
	<-c.done
	return c.err
}

func recordsBucket() []byte { return []byte("records") }
func formatBucket() []byte  { return []byte("format") }
func versionKey() []byte    { return []byte("version") }

// Open opens or makes the folder. It fails when another process has it open, when the file is damaged and when a newer
// version of this package wrote it.
func Open(dir string) (*Journal, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the data folder: %w", err)
	}
	path := filepath.Join(dir, fileName)
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{
		Timeout: lockTimeout, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType,
	})
	if errors.Is(err, bbolterrors.ErrTimeout) {
		return nil, fmt.Errorf("opening %s: another process has it open (stop it, or choose another data folder): %w", path, err)
	}
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	if err := db.Update(checkFormat); err != nil {
		return nil, errors.Join(fmt.Errorf("opening %s: %w", path, err), db.Close())
	}
	j := &Journal{db: db, wake: make(chan struct{}, 1), stopped: make(chan struct{})}
	go j.run()
	return j, nil
}

func checkFormat(tx *bbolt.Tx) error {
	if _, err := tx.CreateBucketIfNotExists(recordsBucket()); err != nil {
		return fmt.Errorf("making the bucket: %w", err)
	}
	format, err := tx.CreateBucketIfNotExists(formatBucket())
	if err != nil {
		return fmt.Errorf("making the bucket: %w", err)
	}
	switch version := string(format.Get(versionKey())); version {
	case "":
		return format.Put(versionKey(), []byte(formatVersion))
	case formatVersion:
		return nil
	default:
		return fmt.Errorf("the file has format %s and this program reads %s (use the program that wrote it, or another folder)", version, formatVersion)
	}
}

// Load calls yield for every record in the order of the keys and stops at the first error, which it returns.
func (j *Journal) Load(yield func(key string, value []byte) error) error {
	return j.db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(recordsBucket()).ForEach(func(k, v []byte) error {
			return yield(string(k), bytes.Clone(v))
		})
	})
}

// Append queues a unit. The returned function waits until it is on disk; it may be called any number of times.
func (j *Journal) Append(unit []store.Mutation) (wait func() error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.failed; err != nil {
		return func() error { return err }
	}
	if j.closed {
		return func() error { return ErrClosed }
	}
	if j.pending == nil {
		j.pending = &commit{done: make(chan struct{})}
		j.wake <- struct{}{} // has room: nothing was pending, so the last signal was taken
	}
	j.pending.mutations = append(j.pending.mutations, unit...)
	return j.pending.wait
}

// run commits until the journal is closed.
func (j *Journal) run() {
	defer close(j.stopped)
	for range j.wake {
		j.mu.Lock()
		c := j.pending
		j.pending = nil
		err := j.failed
		j.mu.Unlock()
		if err == nil {
			err = j.write(c.mutations)
		}
		if err != nil {
			j.mu.Lock()
			j.failed = err
			j.mu.Unlock()
		}
		c.err = err
		close(c.done)
	}
}

func (j *Journal) write(mutations []store.Mutation) error {
	err := j.db.Update(func(tx *bbolt.Tx) error {
		records := tx.Bucket(recordsBucket())
		for _, m := range mutations {
			if err := apply(records, m); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("writing the journal: %w", err)
	}
	return nil
}

func apply(records *bbolt.Bucket, m store.Mutation) error {
	switch {
	case m.Prefix:
		return removePrefix(records, []byte(m.Key))
	case m.Value == nil:
		return records.Delete([]byte(m.Key))
	default:
		return records.Put([]byte(m.Key), m.Value)
	}
}

// removePrefix gathers the keys first, because a cursor may skip some when its bucket changes under it.
func removePrefix(records *bbolt.Bucket, prefix []byte) error {
	var keys [][]byte
	cursor := records.Cursor()
	for k, _ := cursor.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, _ = cursor.Next() {
		keys = append(keys, bytes.Clone(k))
	}
	for _, k := range keys {
		if err := records.Delete(k); err != nil {
			return err
		}
	}
	return nil
}

// Close waits for everything appended and releases the folder. It returns the error that made the journal fail, if any.
// A second call does nothing.
func (j *Journal) Close() error {
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return nil
	}
	j.closed = true
	close(j.wake)
	j.mu.Unlock()
	<-j.stopped
	j.mu.Lock()
	failed := j.failed
	j.mu.Unlock()
	return errors.Join(failed, j.db.Close())
}
