package denorm_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// The environment of a child process, which keeps copies until it is killed.
const (
	childEndpoint = "GROVE_DENORM_ENDPOINT"
	childKey      = "GROVE_DENORM_KEY"
)

func runChild(endpoint, key string) error {
	credential, err := azcosmos.NewKeyCredential(key)
	if err != nil {
		return err
	}
	client, err := azcosmos.NewClientWithKey(endpoint, credential, repository.ClientOptions(nil))
	if err != nil {
		return err
	}
	copies := denorm.New(denorm.Config{Processor: impatient()}, declarations()...)
	plan, err := registry.NewPlan(layout(), entities(), copies.Extension())
	if err != nil {
		return err
	}
	if _, err := registry.Open(client, plan); err != nil {
		return err
	}
	keeper, err := copies.Keeper()
	if err != nil {
		return err
	}
	if err := keeper.Start(context.Background()); err != nil {
		return err
	}
	select {} // until the SIGKILL
}

// impatient are intervals for processes that live a second or two.
func impatient() changefeed.Config {
	return changefeed.Config{PollInterval: 20 * time.Millisecond, BalanceInterval: 50 * time.Millisecond, LeaseDuration: time.Second}
}

// spell is how long the tests with processes and faults write: GROVE_SOAK=1
// makes it two minutes, and a duration that long.
func spell() time.Duration {
	text := os.Getenv("GROVE_SOAK")
	if d, err := time.ParseDuration(text); err == nil {
		return d
	}
	if text != "" {
		return 2 * time.Minute
	}
	return 2 * time.Second
}

// Three processes keep the copies of one account, over ranges that split, and
// are killed with SIGKILL and started again at random, while writers write.
// Afterwards one more catches up, and nothing has drifted.
func TestKilledProcessesLeaveNoDrift(t *testing.T) {
	t.Parallel()
	partitions := 4 // catching up takes its time for each
	if os.Getenv("GROVE_SOAK") != "" {
		partitions = 8
	}
	server := emulatortest.Serve(t, emulatortest.WithPartitions(partitions))
	b := setupOn(t, server.Emulator)
	ctx, end := context.WithTimeout(t.Context(), spell())
	defer end()
	var processes sync.WaitGroup
	for range 3 {
		processes.Go(func() {
			for ctx.Err() == nil {
				life, kill := context.WithTimeout(ctx, 500*time.Millisecond+rand.N(time.Second))
				cmd := exec.CommandContext(life, os.Args[0]) // the end of its context is a SIGKILL
				cmd.Env = append(os.Environ(), childEndpoint+"="+server.Endpoint(), childKey+"="+server.Key())
				cmd.Stderr = os.Stderr
				if err := cmd.Run(); err == nil || life.Err() == nil {
					t.Errorf("a process ended by itself: %v", err)
				}
				kill()
			}
		})
	}
	writers := b.writers(ctx, 3)
	for ctx.Err() == nil {
		for _, container := range []string{"documents", "tasks"} {
			if ranges := server.Ranges("work", container); len(ranges) < partitions+6 {
				server.Split("work", container, ranges[rand.IntN(len(ranges))].ID)
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(spell() / 8):
		}
	}
	writers.Wait()
	processes.Wait()
	b.catchUp()
	b.noDrift()
	b.total()
}

// The same in one process, under faults: one request in five fails, half of
// them after they took effect. They fail with a status that the SDK does not
// itself wait a second for.
func TestFaultsLeaveNoDrift(t *testing.T) {
	t.Parallel()
	e := emulatortest.New(t, emulatortest.WithPartitions(4))
	b := setupOn(t, e)
	_, second := open(t, e.Client(quickly()), "", declarations()...)
	ctx, end := context.WithTimeout(t.Context(), spell())
	defer end()
	for _, keeper := range []*denorm.Keeper{b.keeper, second} {
		b.must(keeper.Start(ctx))
	}
	for i, fault := range []emulator.Fault{emulator.Answer(500, 0), emulator.Answer(500, 0).AfterEffect()} {
		e.Service().Faults().Add(fault.On(
			emulator.CreateItem, emulator.ReplaceItem, emulator.UpsertItem, emulator.PatchItem, emulator.ReadItem, emulator.DeleteItem,
			emulator.QueryItems, emulator.TransactionalBatch, emulator.ChangeFeed,
		).Keep().Probability(0.1, uint64(i+1)))
	}
	b.writers(ctx, 3).Wait()
	e.Service().Faults().Clear()
	b.must(second.Stop(t.Context()))
	b.catchUp()
	b.must(b.keeper.Stop(t.Context()))
	b.noDrift()
	b.total()
}

// With session consistency, replicas lag behind: the keeper reads at least
// what its feed has seen.
func TestLaggingReplicasLeaveNoDrift(t *testing.T) {
	t.Parallel()
	b := setup(t, emulatortest.WithReplicaLag(30*time.Millisecond), emulatortest.WithPartitions(4))
	ctx, end := context.WithTimeout(t.Context(), spell()/2)
	defer end()
	b.must(b.keeper.Start(ctx))
	b.writers(ctx, 3).Wait()
	b.catchUp()
	b.must(b.keeper.Stop(t.Context()))
	b.noDrift()
	b.total()
}

// total logs how much the test did.
func (b *testBundle) total() {
	b.t.Helper()
	persons, err := b.persons.In(acme).Count(b.ctx, repository.All())
	b.must(err)
	tasks, err := b.tasks.In(acme).Count(b.ctx, repository.All())
	b.must(err)
	comments, err := b.comments.In(acme).Count(b.ctx, repository.All())
	b.must(err)
	if persons == 0 || tasks == 0 {
		b.t.Fatalf("nothing was written")
	}
	b.t.Logf("%d persons, %d tasks and %d comments are there", persons, tasks, comments)
}

// writers change the account until the context ends. What they fail at for
// want of a document, or an answer, they pass over. After the first hundreds of
// documents each of them changes what is there: counting in lists grows with
// their number, and the catching up afterwards should be as long as the writing.
func (b *testBundle) writers(ctx context.Context, n int) *sync.WaitGroup {
	const most = 250
	var group sync.WaitGroup
	for w := range n {
		group.Go(func() {
			random := rand.New(rand.NewPCG(uint64(w), 7))
			var persons []*Person
			var tasks []*Task
			var labels []*Label
			for i := 0; ctx.Err() == nil || len(tasks) == 0 && b.ctx.Err() == nil && i < 10_000; i++ {
				ctx := ctx
				if len(tasks) == 0 {
					ctx = b.ctx // there is something to keep true, however little the machine gets done in that time
				}
				name := fmt.Sprint("w", w, ".", i)
				switch roll := random.IntN(12); {
				case roll < 2 && len(persons) < most || len(persons) == 0:
					p := &Person{Name: name}
					if b.tolerate(ctx, b.persons.In(acme).Create(ctx, p)) {
						persons = append(persons, p)
					}
				case roll < 4 && len(tasks) < most || len(tasks) == 0:
					task := &Task{Title: name, AssigneeID: one(random, persons).Ref(), Plan: Plan{Steps: []Step{{Note: name, PersonID: one(random, persons).Ref()}}}}
					if b.tolerate(ctx, b.tasks.In(acme, fmt.Sprint("p", random.IntN(5))).Create(ctx, task)) {
						tasks = append(tasks, task)
					}
				case roll < 6:
					_, err := b.persons.In(acme).Mutate(ctx, one(random, persons).ID, func(p *Person) error { p.Name = name; return nil })
					b.tolerate(ctx, err)
				case roll < 8:
					task := one(random, tasks)
					_, err := b.tasks.In(acme, task.Project).Mutate(ctx, task.ID, func(t *Task) error {
						t.AssigneeID = one(random, persons).Ref()
						t.WatcherIDs = toggle(t.WatcherIDs, one(random, persons).Ref())
						return nil
					})
					b.tolerate(ctx, err)
				case roll < 10:
					c := &Comment{Body: name, AuthorID: one(random, persons).Ref()}
					if b.tolerate(ctx, b.comments.Under(one(random, tasks)).Create(ctx, c)) && random.IntN(3) == 0 {
						b.tolerate(ctx, b.comments.In(acme).Delete(ctx, c.ID, nil))
					}
				case roll < 11:
					l := &Label{Text: name, Tasks: []tenantitem.Ref[Task]{one(random, tasks).Ref()}}
					if b.tolerate(ctx, b.labels.In(acme).Create(ctx, l)) {
						labels = append(labels, l)
					}
				case len(labels) > 0:
					at := one(random, tasks).Ref()
					_, err := b.labels.In(acme).Mutate(ctx, one(random, labels).ID, func(l *Label) error { l.Tasks = toggle(l.Tasks, at); return nil })
					b.tolerate(ctx, err)
				}
			}
		})
	}
	return &group
}

func one[T any](random *rand.Rand, of []T) T { return of[random.IntN(len(of))] }

// tolerate reports success, and fails the test for what no fault explains.
func (b *testBundle) tolerate(ctx context.Context, err error) bool {
	for _, wrong := range []error{repository.ErrInvalid, repository.ErrTenantMismatch, repository.ErrEntityMismatch, repository.ErrTooLarge} {
		if ctx.Err() == nil && errors.Is(err, wrong) {
			b.t.Errorf("a writer: %v", err)
		}
	}
	return err == nil
}
