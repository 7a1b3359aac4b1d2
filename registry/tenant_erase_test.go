package registry_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// stored puts a document as another writer would, under a key of its own.
func (e estate) stored(t testing.TB, entityType, body string) {
	t.Helper()
	key := azcosmos.NewPartitionKeyString("acme")
	if entityType == "" {
		key = key.AppendNull()
	} else {
		key = key.AppendString(entityType)
	}
	_, err := e.notes.Container().CreateItem(t.Context(), key, []byte(body), nil)
	must(t, err)
}

// Writers that go on for a while don't keep an erasure from its end, and then
// nothing is there.
func TestAnErasureEndsAmongWriters(t *testing.T) {
	t.Parallel()
	e := newEstate(t, emulatortest.Client(t, emulatortest.WithPartitions(2)))
	e.fill(t, "acme", 200)
	tenants := e.db.Tenants()
	stop := make(chan struct{})
	created := make(chan int)
	go func() {
		n := 0
		defer func() { created <- n }()
		for ; n < 300; n++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := e.notes.In("acme").Create(context.WithoutCancel(t.Context()), &Note{Title: "another"}); err != nil {
				t.Error(err)
			}
			if err := e.lookups.In("acme", "late").Create(context.WithoutCancel(t.Context()), &Lookup{LookupType: "late"}); err != nil {
				t.Error(err)
			}
		}
	}()
	looks := 0
	certificate, err := tenants.Erase(t.Context(), "acme", &registry.EraseOptions{Progress: func(registry.TenantProgress) {
		if looks++; looks == 10 {
			close(stop)
		}
	}})
	if looks < 10 {
		close(stop)
	}
	n := <-created
	must(t, err)
	if !certificate.Complete || !certificate.Verify() || certificate.Partial {
		t.Errorf("%+v", certificate)
	}
	rest, err := tenants.Erase(t.Context(), "acme", nil) // what came behind the last look
	must(t, err)
	total := int64(0)
	for _, c := range []*registry.Erasure{certificate, rest} {
		for _, m := range c.Removed {
			total += m
		}
	}
	if total < 200+2*int64(n) || total > 200+2*int64(n)+1 {
		t.Errorf("%d documents removed in %d looks, of 200 and %d pairs", total, looks, n)
	}
	stats, err := tenants.Stats(t.Context(), "acme", nil)
	must(t, err)
	if stats.Documents != 0 || len(stats.EntityTypes) != 0 {
		t.Errorf("%+v", stats)
	}
}

func TestACertificateTellsWhatWasChanged(t *testing.T) {
	t.Parallel()
	e := newEstate(t, emulatortest.Client(t))
	e.fill(t, "acme", 40)
	began := time.Now()
	c, err := e.db.Tenants().Erase(t.Context(), "acme", nil)
	must(t, err)
	if !c.Verify() || c.Began.Before(began.Add(-time.Second)) || c.Ended.Before(c.Began) || c.Took != c.Ended.Sub(c.Began) || len(c.Digest) != 64 {
		t.Errorf("%+v", c)
	}
	// It survives being kept as JSON.
	text, err := json.Marshal(c)
	must(t, err)
	var kept registry.Erasure
	must(t, json.Unmarshal(text, &kept))
	if !kept.Verify() {
		t.Errorf("kept as %s", text)
	}
	for name, change := range map[string]func(*registry.Erasure){
		"a count":      func(e *registry.Erasure) { e.Removed["Note"]++ },
		"the tenant":   func(e *registry.Erasure) { e.TenantID = "globex" },
		"the time":     func(e *registry.Erasure) { e.Ended = e.Ended.Add(time.Second) },
		"the end":      func(e *registry.Erasure) { e.Complete = false },
		"the ids":      func(e *registry.Erasure) { e.Documents = strings.Repeat("0", 64) },
		"no digest":    func(e *registry.Erasure) { e.Digest = "" },
		"what it says": func(e *registry.Erasure) { e.Partial = true },
	} {
		changed := kept
		changed.Removed = maps.Clone(kept.Removed)
		change(&changed)
		if changed.Verify() {
			t.Errorf("%s was changed unseen", name)
		}
	}
}

// One person's data goes, by reference; what is planned is what is erased.
func TestOnePersonIsErased(t *testing.T) {
	t.Parallel()
	e := newEstate(t, emulatortest.Client(t, emulatortest.WithPartitions(2), emulatortest.Calm())) // it writes around the repositories
	ctx := t.Context()
	e.fill(t, "acme", 40)
	e.stored(t, "Person", `{"id":"ada","tenantId":"acme","entityType":"Person","name":"Ada"}`)
	e.stored(t, "Person", `{"id":"grace","tenantId":"acme","entityType":"Person","name":"Grace"}`)
	e.stored(t, "Task", `{"id":"1","tenantId":"acme","entityType":"Task","assigneeId":"ada"}`)
	e.stored(t, "Task", `{"id":"2","tenantId":"acme","entityType":"Task","assigneeId":"grace"}`)
	e.stored(t, "Task", `{"id":"3","tenantId":"acme","entityType":"Task","watchers":[{"of":["x","ada"]}]}`)
	e.stored(t, "Task", `{"id":"4","tenantId":"acme","entityType":"Task","title":"\ud800","by":"ada"}`)
	e.stored(t, "ada", `{"id":"5","tenantId":"acme","entityType":"ada"}`)
	before, err := e.db.Tenants().Stats(ctx, "acme", nil)
	must(t, err)
	mine := registry.RefersTo("ada")
	plan, err := e.db.Tenants().PlanErase(ctx, "acme", mine)
	must(t, err)
	if want := map[string]int64{"Person": 1, "Task": 3}; !maps.Equal(plan.Removed, want) || plan.Kept["Person"] != 1 || plan.Kept["Task"] != 1 || len(plan.IDs["Task"]) != 3 {
		t.Fatalf("planned: %+v", plan)
	}
	c, err := e.db.Tenants().Erase(ctx, "acme", &registry.EraseOptions{Where: mine})
	must(t, err)
	if !maps.Equal(c.Removed, plan.Removed) || !c.Partial || !c.Complete || !c.Verify() {
		t.Errorf("%+v", c)
	}
	after, err := e.db.Tenants().Stats(ctx, "acme", nil)
	must(t, err)
	if after.Documents != before.Documents-4 {
		t.Errorf("%d documents are left of %d", after.Documents, before.Documents)
	}
	again, err := e.db.Tenants().PlanErase(ctx, "acme", mine)
	must(t, err)
	if len(again.Removed) != 0 {
		t.Errorf("left: %+v", again)
	}
	if _, err := e.db.Tenants().PlanErase(repository.WithTenant(ctx, "globex"), "acme", mine); !errors.Is(err, repository.ErrTenantMismatch) {
		t.Errorf("a plan of another tenant: %v", err)
	}
}

// One person's documents are looked at, and then erased.
func ExampleTenants_PlanErase() {
	ctx := context.Background()
	db := exampleDatabase(registry.EntityOf[Writer](), registry.EntityOf[Book]())
	writers, err := registry.RepositoryOf[Writer](db)
	if err != nil {
		log.Fatal(err)
	}
	books, err := registry.RepositoryOf[Book](db)
	if err != nil {
		log.Fatal(err)
	}
	ada, grace := &Writer{}, &Writer{}
	if err := errors.Join(writers.In("acme").Create(ctx, ada), writers.In("acme").Create(ctx, grace)); err != nil {
		log.Fatal(err)
	}
	for _, author := range []*Writer{ada, ada, grace} {
		if err := books.In("acme").Create(ctx, &Book{Authors: []tenantitem.Ref[Writer]{author.Ref()}}); err != nil {
			log.Fatal(err)
		}
	}
	mine := registry.RefersTo(ada.ID)
	plan, err := db.Tenants().PlanErase(ctx, "acme", mine)
	fmt.Println("would go:", plan.Removed, "would stay:", plan.Kept, err)
	certificate, err := db.Tenants().Erase(ctx, "acme", &registry.EraseOptions{Where: mine})
	fmt.Println("gone:", certificate.Removed, certificate.Complete, certificate.Verify(), err)
	// Output:
	// would go: map[Book:2 Writer:1] would stay: map[Book:1 Writer:1] <nil>
	// gone: map[Book:2 Writer:1] true true <nil>
}

// What another writer stored beside a reference does not hide it.
func TestAReferenceInADocumentWithANumberBeyondGo(t *testing.T) {
	t.Parallel()
	d := registry.ErasedDocument{ID: "n", Document: []byte(`{"id":"n","n":1e999,"authors":[{"id":"ada"}]}`)}
	if !registry.RefersTo("ada")(d) || registry.RefersTo("bob")(d) {
		t.Error("the reference is passed over")
	}
}
