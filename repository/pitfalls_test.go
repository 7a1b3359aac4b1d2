package repository_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"pgregory.net/rapid"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/ceiling"
	"github.com/cosmosgrove/grove/tenantitem"
)

// The tests of this file hold what libraries of this kind have got wrong.

func TestAStaleCopyDoesNotBringADeletedDocumentBack(t *testing.T) {
	t.Parallel()
	b := setupNotes(t)
	ctx := t.Context()
	n := &Note{Title: "x"}
	must(t, b.acme.Create(ctx, n))
	must(t, b.acme.Delete(ctx, n.ID, nil))
	for name, do := range map[string]func(*Note) error{
		"Save":    func(n *Note) error { return b.acme.Save(ctx, n) },
		"Replace": func(n *Note) error { return b.acme.Replace(ctx, n) },
		"Batch":   func(n *Note) error { return b.acme.Batch().Save(n).Commit(ctx) },
		"SaveAll": func(n *Note) error { _, err := b.acme.SaveAll(ctx, slices.Values([]*Note{n}), nil); return err },
		"Mutate":  func(n *Note) error { _, err := b.acme.Mutate(ctx, n.ID, func(*Note) error { return nil }); return err },
		"Patch":   func(n *Note) error { _, err := b.acme.Patch(ctx, n.ID, repository.Set("/title", "y")); return err },
	} {
		stale := *n
		if err := do(&stale); !errors.Is(err, repository.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if there, err := b.acme.Exists(ctx, n.ID); err != nil || there {
		t.Errorf("the document is back: %t, %v", there, err)
	}
}

func TestEveryPageSizeGivesTheWholeResult(t *testing.T) {
	t.Parallel()
	b := setupNotes(t)
	const total = 60
	input := notesFrom(total)
	for i, n := range input {
		n.Count = int64(i % 4) // ties, so that an order alone does not tell where a page ended
	}
	_, err := b.acme.SaveAll(t.Context(), slices.Values(input), nil)
	must(t, err)
	rapid.Check(t, func(r *rapid.T) {
		q := repository.Where(repository.Gte("count", rapid.Int64Range(0, 4).Draw(r, "from")))
		switch rapid.IntRange(0, 2).Draw(r, "order") {
		case 1:
			q = q.OrderBy("count")
		case 2:
			q = q.OrderByDesc("title")
		}
		if rapid.Bool().Draw(r, "limited") {
			q = q.Limit(rapid.IntRange(1, total+5).Draw(r, "limit"))
		}
		var whole []string
		for n, err := range b.acme.Query(t.Context(), q) {
			if err != nil {
				r.Fatal(err)
			}
			whole = append(whole, n.ID)
		}
		size := rapid.IntRange(1, total+5).Draw(r, "size")
		var paged []string
		for cursor, more := "", true; more; more = cursor != "" {
			page, err := b.acme.Page(t.Context(), q, repository.PageOptions{Size: size, Cursor: cursor})
			if err != nil {
				r.Fatal(err)
			}
			if cursor = page.Cursor; cursor != "" && len(page.Items) != size {
				r.Fatalf("a page of %d inside the result", len(page.Items))
			}
			for _, n := range page.Items {
				paged = append(paged, n.ID)
			}
		}
		if !slices.Equal(paged, whole) {
			r.Fatalf("pages of %d: %d documents, the query has %d", size, len(paged), len(whole))
		}
	})
}

func TestCursorsAreBoundToTenantQueryAndKey(t *testing.T) {
	t.Parallel()
	b := setupNotes(t)
	_, err := b.acme.SaveAll(t.Context(), slices.Values(notesFrom(20)), nil)
	must(t, err)
	q := repository.All().OrderBy("title")
	first, err := b.acme.Page(t.Context(), q, repository.PageOptions{Size: 5})
	must(t, err)
	options := repository.PageOptions{Size: 5, Cursor: first.Cursor}
	changed := []byte(first.Cursor)
	changed[len(changed)/2] ^= 1
	for name, do := range map[string]func() error{
		"another tenant": func() error { _, err := b.notes.In("globex").Page(t.Context(), q, options); return err },
		"another query": func() error {
			_, err := b.acme.Page(t.Context(), q.And(repository.Gt("title", "a")), options)
			return err
		},
		"another value": func() error {
			page, err := b.acme.Page(t.Context(), repository.Where(repository.Gt("title", "a")), repository.PageOptions{Size: 5})
			must(t, err)
			_, err = b.acme.Page(t.Context(), repository.Where(repository.Gt("title", "b")), repository.PageOptions{Size: 5, Cursor: page.Cursor})
			return err
		},
		"another process": func() error {
			_, err := newRepository(t, b.container, repository.Config{}).In("acme").Page(t.Context(), q, options)
			return err
		},
		"a changed character": func() error {
			_, err := b.acme.Page(t.Context(), q, repository.PageOptions{Size: 5, Cursor: string(changed)})
			return err
		},
	} {
		if err := do(); !errors.Is(err, repository.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTotalsKnowEntityTypeAndTenant(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	// A key of one level, so that both entity types lie in the tenant's one partition.
	client := emulatortest.Client(t)
	id := emulatortest.DatabaseID(t, client, "db")
	_, err := client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: id}, nil)
	must(t, err)
	db, err := client.NewDatabase(id)
	must(t, err)
	_, err = db.CreateContainer(ctx, azcosmos.ContainerProperties{ID: "one", PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/tenantId"}, Version: 2}}, nil)
	must(t, err)
	container, err := db.NewContainer("one")
	must(t, err)
	cfg := repository.Config{PartitionKey: []string{"/tenantId"}}
	notes := newRepository(t, container, cfg)
	lookups, err := repository.New[Lookup](container, cfg)
	must(t, err)
	for _, tenant := range []string{"acme", "globex"} {
		_, err = notes.In(tenant).SaveAll(ctx, slices.Values(notesFrom(3)), nil)
		must(t, err)
		must(t, lookups.In(tenant).Create(ctx, &Lookup{Name: tenant}))
	}
	if n, err := notes.In("acme").Count(ctx, repository.All()); err != nil || n != 3 {
		t.Errorf("Count: %d, %v", n, err)
	}
	page, err := notes.In("acme").Page(ctx, repository.All(), repository.PageOptions{Size: 100})
	must(t, err)
	if len(page.Items) != 3 {
		t.Errorf("a page holds %d", len(page.Items))
	}
	other, err := lookups.In("acme").First(ctx, repository.All())
	must(t, err)
	if _, err := notes.In("acme").Get(ctx, other.ID); !errors.Is(err, repository.ErrEntityMismatch) {
		t.Errorf("Get of another entity type's id: %v", err)
	}
}

func TestTalliesAreWhatTheServiceCharged(t *testing.T) {
	t.Parallel()
	b := setupNotes(t)
	_, err := b.acme.SaveAll(t.Context(), slices.Values(notesFrom(300)), nil)
	must(t, err)
	for name, container := range map[string]*azcosmos.ContainerClient{"with the pipeline policy": b.container, "without it": plainContainer(t, b)} {
		acme := newRepository(t, container, repository.Config{}).In("acme")
		_, err := acme.Exists(t.Context(), "warm") // reads the account
		must(t, err)
		mark := b.emulator.Requests().Mark()
		ctx, tally := repository.WithTally(t.Context())
		_, err = acme.Page(ctx, repository.All(), repository.PageOptions{Size: 50})
		must(t, err)
		_, err = acme.Get(ctx, "missing")
		if !errors.Is(err, repository.ErrNotFound) {
			t.Fatal(err)
		}
		if name == "with the pipeline policy" { // without it nothing is written
			must(t, acme.Batch().Create(&Note{}).Create(&Note{}).Commit(ctx))
		}
		var requests int64
		var units float64
		for _, x := range b.emulator.Requests().Since(mark) {
			requests++
			units += x.Charge
		}
		if tally.Requests() != requests || math.Abs(tally.RequestUnits()-units) > 0.02 {
			t.Errorf("%s: the tally says %s, the service %d and %.2f", name, tally, requests, units)
		}
	}
}

func TestGetManyIsOneRequest(t *testing.T) {
	t.Parallel()
	b := setupNotes(t, emulatortest.Calm()) // its requests are counted
	input := notesFrom(100)
	_, err := b.acme.SaveAll(t.Context(), slices.Values(input), nil)
	must(t, err)
	ids := make([]string, 0, len(input))
	for _, n := range slices.Backward(input) {
		ids = append(ids, n.ID)
	}
	var tally *repository.Tally
	emulatortest.AssertSinglePartition(t, b.emulator, func(ctx context.Context) {
		ctx, tally = repository.WithTally(ctx)
		many, err := b.acme.GetMany(ctx, ids...)
		must(t, err)
		for i, n := range many {
			if n.ID != ids[i] {
				t.Fatalf("place %d holds %s", i, n.Title)
			}
		}
	})
	if tally.Requests() != 1 {
		t.Errorf("%s", tally)
	}
}

func TestRetriesCoverEveryLater(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusTooManyRequests, 449} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			emulatortest.InProcess(t, "the service knows nothing of a bubble's time")
			synctest.Test(t, func(t *testing.T) {
				b := setupNotes(t)
				n := &Note{Title: "x"}
				must(t, b.acme.Create(t.Context(), n))
				waited := map[time.Duration]bool{}
				for range 5 {
					b.emulator.Fault(emulator.Answer(status, 0).On(emulator.ReplaceItem).Times(6))
					began := time.Now()
					must(t, b.acme.Save(t.Context(), n))
					waited[time.Since(began)] = true
				}
				if len(waited) < 4 {
					t.Errorf("five rounds of retries took %v: there is no jitter", waited)
				}
				b.emulator.Fault(emulator.Answer(status, 0).On(emulator.ReplaceItem).Keep())
				if err := b.acme.Save(t.Context(), n); !errors.Is(err, repository.ErrThrottled) {
					t.Errorf("a service that never lets up: %v", err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				defer cancel()
				began := time.Now()
				if err := b.acme.Save(ctx, n); !errors.Is(err, repository.ErrThrottled) || time.Since(began) > 200*time.Millisecond {
					t.Errorf("within a deadline: %v after %s", err, time.Since(began))
				}
			})
		})
	}
}

func TestResumeTokensAreBoundToTheirScope(t *testing.T) {
	t.Parallel()
	b := setupNotes(t)
	token := ""
	_, err := b.acme.SaveAll(t.Context(), slices.Values(notesFrom(1)), &repository.BulkOptions{Progress: func(p repository.Receipt) { token = p.Resume }})
	must(t, err)
	if _, err := b.notes.In("globex").SaveAll(t.Context(), slices.Values(notesFrom(1)), &repository.BulkOptions{Resume: token}); !errors.Is(err, repository.ErrInvalid) {
		t.Errorf("a token of another tenant: %v", err)
	}
}

// headers notes what is sent.
type headers struct {
	mu   sync.Mutex
	seen []http.Header
}

func (h *headers) Do(req *policy.Request) (*http.Response, error) {
	h.mu.Lock()
	h.seen = append(h.seen, req.Raw().Header.Clone())
	h.mu.Unlock()
	return req.Next()
}

func TestSettingsOfACallAreSentWithEveryRequest(t *testing.T) {
	t.Parallel()
	b := setupNotes(t)
	sent := &headers{}
	var options azcosmos.ClientOptions
	options.PerRetryPolicies = []policy.Policy{sent}
	container, err := b.emulator.Client(repository.ClientOptions(&options)).NewContainer("db", "main")
	must(t, err)
	acme := newRepository(t, container, repository.Config{}).In("acme")
	_, err = acme.Exists(t.Context(), "warm")
	must(t, err)
	sent.seen = nil

	ctx := ceiling.WithThroughput(t.Context(), azcosmos.PriorityLevelLow, 3)
	for _, do := range verbsByScope(acme) {
		_ = do(ctx) // some fail, as there is no such document
	}
	for i, h := range sent.seen {
		if h.Get("x-ms-cosmos-priority-level") != "Low" || h.Get("x-ms-cosmos-throughput-bucket") != "3" {
			t.Errorf("request %d: priority %q, bucket %q", i, h.Get("x-ms-cosmos-priority-level"), h.Get("x-ms-cosmos-throughput-bucket"))
		}
	}
	if len(sent.seen) < 20 {
		t.Errorf("only %d requests", len(sent.seen))
	}
}

func TestClientOptionsChangeNothingButThePipeline(t *testing.T) {
	t.Parallel()
	var mine azcosmos.ClientOptions
	mine.PreferredRegions = []string{"Here"}
	out := repository.ClientOptions(&mine)
	if len(mine.PerRetryPolicies) != 0 || out.Transport != nil || !slices.Equal(out.PreferredRegions, mine.PreferredRegions) {
		t.Errorf("%+v became %+v", mine, out)
	}
}

func TestOddTenantsStayApart(t *testing.T) {
	t.Parallel()
	b := setupNotes(t)
	tenants := []string{`quote"`, `quote`, "apostrophe'", "Ünïcode", "漢字", "a,b", "a b", "[x]", "100%", "true", "null", "1", "\u00e9", "e\u0301"}
	for i, tenant := range tenants {
		n := &Note{Title: tenant}
		n.ID = "same"
		must(t, b.notes.In(tenant).Create(t.Context(), n))
		if n.TenantID != tenant {
			t.Errorf("tenant %d became %q", i, n.TenantID)
		}
	}
	for _, tenant := range tenants {
		got, err := b.notes.In(tenant).Get(t.Context(), "same")
		if err != nil || got.Title != tenant {
			t.Errorf("tenant %q: %+v, %v", tenant, got, err)
		}
		n, err := b.notes.In(tenant).Count(t.Context(), repository.All())
		if err != nil || n != 1 {
			t.Errorf("tenant %q: %d documents, %v", tenant, n, err)
		}
	}
}

func TestACreatedCopyKeepsNothingOfItsOriginal(t *testing.T) {
	t.Parallel()
	b := setupNotes(t)
	n := &Note{Title: "x", TenantItem: tenantitem.TenantItem[Note]{Meta: tenantitem.Meta{ETag: `"of another"`, TS: 5}}}
	must(t, b.acme.Create(t.Context(), n))
	got, err := b.acme.Get(t.Context(), n.ID)
	must(t, err)
	if got.ETag != n.ETag || n.ETag == `"of another"` || got.TS == 5 {
		t.Errorf("the entity has %q, the document %q", n.ETag, got.ETag)
	}
}
