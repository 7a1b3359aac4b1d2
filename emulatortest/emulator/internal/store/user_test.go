package store_test

import (
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// Users and permissions are there again after a restart, with their rids, and go with their database.
func TestUsersAreKept(t *testing.T) {
	t.Parallel()
	journal := &memoryJournal{}
	b := setup(t, store.Options{Journal: journal}, "")
	ref := func(name string) store.Ref { return store.Ref{Name: name} }
	for _, id := range []string{"a", "b", "gone"} {
		must(b.db.CreateUser([]byte(`{"id":"` + id + `"}`)))(t)
	}
	wantError(t, b.db.DeleteUser(ref("gone"), store.Precondition{}), 0, 0)
	kept := must(b.db.CreatePermission(ref("b"), []byte(`{"id":"p","permissionMode":"Read","resource":"dbs/db/colls/c"}`)))(t)
	must(b.db.CreatePermission(ref("b"), []byte(`{"id":"q","permissionMode":"All","resource":"dbs/db/colls/d"}`)))(t)
	wantError(t, b.db.DeletePermission(ref("b"), ref("q"), store.Precondition{}), 0, 0)

	again := must(store.Open(store.Options{Journal: journal}))(t)
	db := must(again.Database("db"))(t)
	if users := db.Users(); len(users) != 2 || users[0].ID != "a" || users[1].ID != "b" || users[1].RID != must(b.db.User(ref("b")))(t).RID {
		t.Errorf("after a restart: %+v", users)
	}
	permissions := must(db.Permissions(ref("b")))(t)
	if len(permissions) != 1 || string(permissions[0].Body) != string(kept.Body) {
		t.Errorf("after a restart: %+v", permissions)
	}
	byRID := must(db.Permission(store.Ref{Name: must(db.User(ref("b")))(t).RID, RID: true}, store.Ref{Name: kept.RID, RID: true}))(t)
	if byRID.ID != "p" || len(kept.RID) != 24 {
		t.Errorf("by its rid %s: %+v", kept.RID, byRID)
	}
	wantError(t, db.Delete(store.Precondition{}), 0, 0)
	must(again.CreateDatabase([]byte(`{"id":"db"}`), store.Throughput{}))(t)
	if db := must(must(store.Open(store.Options{Journal: journal}))(t).Database("db"))(t); len(db.Users()) != 0 {
		t.Errorf("users outlive their database: %+v", db.Users())
	}
}
