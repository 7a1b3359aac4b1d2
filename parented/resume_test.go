package parented_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// mortal ends a context with the n-th request: before it is sent, or after the
// service took it and before anyone learns the answer.
type mortal struct {
	left  atomic.Int64
	after bool
	die   context.CancelFunc
}

func (m *mortal) Do(req *policy.Request) (*http.Response, error) {
	if late, ok := req.Raw().Context().Value(lateKey{}).(*beforeBatch); ok && req.Raw().Header.Get("x-ms-cosmos-is-batch-request") != "" {
		if late.seen.Add(1) == late.after+1 {
			late.do()
		}
	}
	left := m.left.Add(-1)
	if left < 0 || left == 0 && !m.after {
		m.die()
		return nil, context.Canceled
	}
	resp, err := req.Next()
	if die, ok := req.Raw().Context().Value(answeredKey{}).(context.CancelFunc); ok && req.Raw().Header.Get("x-ms-cosmos-is-batch-request") != "" {
		die()
		return nil, context.Canceled
	}
	if left == 0 {
		m.die()
		return nil, context.Canceled
	}
	return resp, err
}

// never is a request at which no client dies.
const never = 1 << 30

// firstOwnRequest comes after the SDK's reading of the account.
const firstOwnRequest = 2

// dyingAt runs work with a client that dies at the n-th request; it reports
// whether work came to its end before.
func dyingAt(t *testing.T, emulator *emulatortest.Emulator, p planting, n int, after bool, work func(context.Context, grove) error) bool {
	t.Helper()
	emulatortest.InProcess(t, "its many thousand steps open the database by name")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	m := &mortal{after: after, die: cancel}
	m.left.Store(int64(n))
	client := emulator.Client(repository.ClientOptions(&azcosmos.ClientOptions{ClientOptions: policy.ClientOptions{PerRetryPolicies: []policy.Policy{m}}}))
	database, err := client.NewDatabase("notes")
	must(t, err)
	err = work(ctx, open(t, database, p))
	return err == nil && ctx.Err() == nil
}

func TestADeleteThatDiesAnywhereCanBeFinished(t *testing.T) {
	t.Parallel()
	for name, finish := range map[string]func(context.Context, grove, string) error{
		"by a second delete": func(ctx context.Context, g grove, id string) error {
			err := g.notes.In("acme").Delete(ctx, id, nil)
			if errors.Is(err, repository.ErrNotFound) {
				return nil
			}
			return err
		},
		"by Resume for the tenant": func(ctx context.Context, g grove, id string) error {
			if _, err := g.forest.Resume(ctx, "acme", "globex"); err != nil {
				return err
			}
			return deleteIfThere(ctx, g, id)
		},
		"by Resume for all tenants": func(ctx context.Context, g grove, id string) error {
			if _, err := g.forest.Resume(ctx); err != nil {
				return err
			}
			return deleteIfThere(ctx, g, id)
		},
	} {
		for _, after := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				p := planting{config: parented.ForestConfig{PageSize: 3}}
				emulator := processes(t)
				p.client = emulator.Client(nil)
				g := plant(t, p)
				bystander := g.tree(t, "acme", 2, 2)
				want := g.stored(t, "acme")
				for n := firstOwnRequest; ; n++ {
					note := g.tree(t, "acme", 4, 2)
					ended := dyingAt(t, emulator, p, n, after, func(ctx context.Context, g grove) error {
						return g.notes.In("acme").Delete(ctx, note.ID, nil)
					})
					must(t, finish(context.Background(), g, note.ID))
					if got := g.stored(t, "acme"); !maps.Equal(got, want) {
						t.Fatalf("dead at request %d: %v is there, want %v", n, got, want)
					}
					if ended {
						if n < 10 {
							t.Fatalf("the delete took %d requests only", n)
						}
						break
					}
				}
				_, err := g.notes.In("acme").Get(context.Background(), bystander.ID)
				must(t, err)
			})
		}
	}
}

func deleteIfThere(ctx context.Context, g grove, id string) error {
	there, err := g.notes.In("acme").Exists(ctx, id)
	if err != nil || !there {
		return err
	}
	return g.notes.In("acme").Delete(ctx, id, nil) // it died before the mark
}

func TestAMarkedTreeIsHiddenAndTakesNoChildren(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	emulator := processes(t)
	p := planting{client: emulator.Client(nil)}
	g := plant(t, p)
	note := g.tree(t, "acme", 2, 1)
	// Before the eighth request the note is marked and nothing is removed yet.
	dyingAt(t, emulator, p, 8, false, func(ctx context.Context, g grove) error { return g.notes.In("acme").Delete(ctx, note.ID, nil) })

	_, err := g.notes.In("acme").Get(ctx, note.ID)
	mustBe(t, err, repository.ErrNotFound)
	mustBe(t, g.comments.Under(note).Create(ctx, &Comment{}), repository.ErrDanglingRef)
	if n, err := g.notes.In("acme").Count(ctx, repository.All()); err != nil || n != 0 {
		t.Fatalf("count: %d, %v", n, err)
	}
	if n := g.stored(t, "acme")["Note"]; n != 1 {
		t.Fatalf("%d notes stored: the delete did not die half-way", n)
	}
	mustBe(t, g.notes.In("acme").Restore(ctx, note.ID), repository.ErrInvalid)
	resumed, err := g.forest.Resume(ctx)
	must(t, err)
	if resumed.Finished != 1 || len(g.stored(t, "acme")) != 0 {
		t.Fatalf("resumed %+v, stored %v", resumed, g.stored(t, "acme"))
	}
}

// A delete looks for what forbids it before it marks anything. What comes
// between the two is seen by the second look, which takes the marks back. Dead
// anywhere in between, Resume ends in the same refusal.
func TestARefusalThatDiesAnywhereIsTakenBack(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		ctx := context.Background()
		emulator := processes(t)
		p := planting{client: emulator.Client(nil), config: parented.ForestConfig{PageSize: 2}}
		g := plant(t, p)
		note := g.tree(t, "acme", 3, 1)
		c, err := g.comments.Under(note).First(ctx, repository.All())
		must(t, err)
		want, refusals := g.stored(t, "acme"), 0
		for n := firstOwnRequest; ; n++ {
			vote := &Vote{}
			late := &beforeBatch{do: func() { must(t, g.votes.Under(c).Create(ctx, vote)) }}
			ended := dyingAt(t, emulator, p, n, after, func(ctx context.Context, dying grove) error {
				err := dying.notes.In("acme").Delete(context.WithValue(ctx, lateKey{}, late), note.ID, nil)
				if errors.Is(err, repository.ErrHasChildren) {
					return nil
				}
				return err
			})
			if vote.ID == "" {
				continue // it died before the marks
			}
			resumed, err := g.forest.Resume(ctx)
			must(t, err)
			refusals += resumed.Refused
			if got := g.visible(t, "acme"); got != 1+3+3+1 || resumed.Finished != 0 {
				t.Fatalf("dead at request %d: %d documents visible, resumed %+v", n, got, resumed)
			}
			must(t, g.votes.In("acme").Delete(ctx, vote.ID, nil))
			if got := g.stored(t, "acme"); !maps.Equal(got, want) {
				t.Fatalf("dead at request %d: %v, want %v", n, got, want)
			}
			if ended {
				break
			}
		}
		if refusals < 5 {
			t.Fatalf("only %d of the deaths left something to roll back", refusals)
		}
	}
}

// lateKey holds a beforeBatch, answeredKey what ends the context when a batch
// was answered.
type (
	lateKey     struct{}
	answeredKey struct{}
)

// beforeBatch does something just before a batch is sent that comes after so
// many others.
type beforeBatch struct {
	after int64
	do    func()
	seen  atomic.Int64
}

func (g grove) visible(t testing.TB, tenant string) int64 {
	t.Helper()
	ctx, all := context.Background(), repository.All()
	var total int64
	for _, count := range []func() (int64, error){
		func() (int64, error) { return g.notes.In(tenant).Count(ctx, all) },
		func() (int64, error) { return g.comments.In(tenant).Count(ctx, all) },
		func() (int64, error) { return g.replies.In(tenant).Count(ctx, all) },
		func() (int64, error) { return g.reactions.In(tenant).Count(ctx, all) },
		func() (int64, error) { return g.votes.In(tenant).Count(ctx, all) },
		func() (int64, error) { return g.labels.In(tenant).Count(ctx, all) },
	} {
		n, err := count()
		must(t, err)
		total += n
	}
	return total
}
