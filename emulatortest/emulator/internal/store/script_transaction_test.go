package store_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

func TestTransactionIsKeptWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{}, "")
	must(b.c.CreateItem(at("a"), doc("old", "a", 1)))(t)
	stop := errors.New("stop")
	for _, end := range []error{stop, nil} {
		r, err := b.c.Transact(at("a"), func(tx *store.Transaction) error {
			made, err := tx.Do(store.Operation{Kind: store.OpCreate, Body: doc("new", "a", 2)})
			wantError(t, err, 0, 0)
			_, err = tx.Do(store.Operation{Kind: store.OpCreate, Body: doc("old", "a", 2)})
			wantError(t, err, 409, 0) // a refused operation does not end the transaction
			rid, _ := parse(t, made.Body).Get("_rid").Str()
			id, err := tx.IDOf(rid)
			if err != nil || id != "new" {
				t.Errorf("its own item has the id %q, %v", id, err)
			}
			var seen []string
			for d := range tx.Snapshot(false).Items("") {
				seen = append(seen, d.ID)
			}
			if got := strings.Join(seen, " "); got != "old new" {
				t.Errorf("it sees %s", got)
			}
			return end
		})
		if !errors.Is(err, end) || r.RangeID == "" || r.Charge <= 1 {
			t.Errorf("got %+v, %v", r, err)
		}
		want := "old"
		if end == nil {
			want = "old new"
		}
		if got := strings.Join(ids(t, b.c, store.Scope{}), " "); got != want {
			t.Errorf("it left %s, want %s", got, want)
		}
	}
}

// A transaction that another request overtook runs once more, and then nothing can overtake it.
func TestTransactionThatIsOvertakenRunsAgain(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{}, "")
	must(b.c.CreateItem(at("a"), doc("counter", "a", 0)))(t)
	runs := 0
	_, err := b.c.Transact(at("a"), func(tx *store.Transaction) error {
		if runs++; runs == 1 {
			must(b.c.UpsertItem(at("a"), doc("counter", "a", 5)))(t) // the other request
		}
		read, err := tx.Do(store.Operation{Kind: store.OpRead, ID: "counter"})
		wantError(t, err, 0, 0)
		n, _ := parse(t, read.Body).Get("n").Number()
		_, err = tx.Do(store.Operation{Kind: store.OpReplace, ID: "counter", Body: doc("counter", "a", int(n)+1)})
		return err
	})
	wantError(t, err, 0, 0)
	read := must(b.c.ReadItem(at("a"), "counter"))(t)
	if n, _ := parse(t, read.Body).Get("n").Number(); runs != 2 || n != 6 {
		t.Errorf("%d runs left %v, want 2 and 6", runs, n)
	}
}

func TestTransactionOfAnotherPartitionGoesOn(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{}, "")
	_, err := b.c.Transact(store.Call{}, func(*store.Transaction) error { return nil })
	wantError(t, err, 400, 0)
	_, err = b.c.Transact(at("a"), func(tx *store.Transaction) error {
		return b.c.Delete(store.Precondition{}) // the container goes while the transaction runs
	})
	wantError(t, err, 404, 1003)
}

func TestScriptsAndClientKeysComeBackFromTheJournal(t *testing.T) {
	t.Parallel()
	journal := &memoryJournal{}
	b := setup(t, store.Options{Journal: journal}, "")
	made, created, err := b.c.CreateScript(store.Trigger, []byte(`{"id":"t","body":"function () {}","triggerType":"pre","triggerOperation":"all"}`), false, store.Precondition{})
	if err != nil || !created {
		t.Fatal(created, err)
	}
	for _, id := range []string{"p", "gone"} {
		if _, _, err := b.c.CreateScript(store.StoredProcedure, []byte(`{"id":"`+id+`","body":"1"}`), false, store.Precondition{}); err != nil {
			t.Fatal(err)
		}
	}
	wantError(t, b.c.DeleteScript(store.StoredProcedure, "gone", store.Precondition{}), 0, 0)
	body := []byte(`{"id":"k","encryptionAlgorithm":"a","wrappedDataEncryptionKey":"AA","keyWrapMetadata":{}}`)
	clientKey := must(b.db.CreateClientKey(body))(t)

	again := must(store.Open(store.Options{Journal: journal}))(t)
	db := must(again.Database("db"))(t)
	c := must(db.Container("c"))(t)
	if s := must(c.Script(store.Trigger, made.RID))(t); s.ID != "t" || s.Type != "pre" || s.Operation != "all" {
		t.Errorf("the trigger is %+v", s)
	}
	if list := must(c.Scripts(store.StoredProcedure))(t); len(list) != 1 || list[0].ID != "p" {
		t.Errorf("the procedures are %v", list)
	}
	if k := must(db.ClientKey("k"))(t); k.RID != clientKey.RID || k.ETag != clientKey.ETag {
		t.Errorf("the key is %+v, was %+v", k, clientKey)
	}
	next, _, err := c.CreateScript(store.StoredProcedure, []byte(`{"id":"q","body":"1"}`), false, store.Precondition{})
	if err != nil || next.RID == made.RID {
		t.Errorf("the next script is %+v, %v", next, err)
	}
	wantError(t, db.Delete(store.Precondition{}), 0, 0)
	for key := range journal.records {
		if strings.HasPrefix(key, "s/") || strings.HasPrefix(key, "k/") {
			t.Errorf("the journal still holds %q", key)
		}
	}
}
