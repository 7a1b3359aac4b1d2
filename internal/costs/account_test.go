package costs

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Note has comments below it and lines in buckets.
type Note struct {
	tenantitem.TenantItem[Note]
	Title string `json:"title"`
}

type Comment struct {
	parented.ParentedItem[Comment, Note]
	Body string `json:"body"`
}

type Line struct {
	Text string `json:"text"`
}

// Task has a copy of the name of the person that it is assigned to.
type Task struct {
	tenantitem.TenantItem[Task]
	Title        string                 `json:"title"`
	AssigneeID   tenantitem.Ref[Person] `json:"assigneeId,omitempty"`
	AssigneeName string                 `json:"assigneeName,omitempty" denorm:"sync,ref=assigneeId,field=name"`
}

type Person struct {
	tenantitem.TenantItem[Person]
	Name string `json:"name"`
}

const tenant = "acme"

// account is an application over an account of its own.
type account struct {
	t        *testing.T
	emulator *emulatortest.Emulator
	db       *registry.Database
	keeper   *denorm.Keeper
	notes    *repository.Scope[Note]
	comments *parented.Repository[Comment, Note]
	lines    *parented.Buckets[Line, Note]
	persons  *repository.Scope[Person]
	tasks    *repository.Scope[Task]
}

// open opens an application whose keeper works with the default intervals.
func open(t *testing.T, partitions int) *account {
	t.Helper()
	a := &account{t: t, emulator: emulatortest.New(t, emulatortest.Calm(), emulatortest.WithPartitions(partitions))}
	copies := denorm.New(denorm.Config{Processor: changefeed.Config{}})
	plan, err := registry.NewPlan(registry.Config{Database: "costs", Provision: true, Logger: slog.New(slog.DiscardHandler)}, []registry.Declaration{
		registry.EntityOf[Note](), registry.ChildOf[Comment, Note](parented.Cascade), registry.BucketOf[Line, Note](parented.Cascade),
		registry.EntityOf[Person](), registry.EntityOf[Task](),
	}, copies.Extension())
	a.must(err)
	a.db, err = registry.Open(a.emulator.Client(repository.ClientOptions(nil)), plan)
	a.must(err)
	a.keeper, err = copies.Keeper()
	a.must(err)
	a.must(a.db.Prepare(t.Context()))
	notes, err := registry.RepositoryOf[Note](a.db)
	a.must(err)
	persons, err := registry.RepositoryOf[Person](a.db)
	a.must(err)
	tasks, err := registry.RepositoryOf[Task](a.db)
	a.must(err)
	a.comments, err = registry.ChildrenOf[Comment, Note](a.db)
	a.must(err)
	a.lines, err = registry.BucketsOf[Line, Note](a.db)
	a.must(err)
	a.notes, a.persons, a.tasks = notes.In(tenant), persons.In(tenant), tasks.In(tenant)
	return a
}

func (a *account) must(err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
}

// count is a row of the table: the requests that f makes. What the SDK asks
// for its own caches is left out, since it depends on what ran before, and so
// are the exchanges for which leaveOut is true.
func (a *account) count(work, least string, f func() error, leaveOut ...func(emulator.Exchange) bool) row {
	a.t.Helper()
	r := row{work: work, least: least, counts: map[emulator.Operation]int{}}
	synctest.Wait() // until what ran before has ended
	mark := a.emulator.Requests().Mark()
	a.must(f())
	synctest.Wait()
	for _, x := range a.emulator.Requests().Since(mark) {
		switch x.Operation {
		case emulator.ReadAccount, emulator.ReadContainer, emulator.ReadPartitionKeyRanges:
			continue
		}
		if slices.ContainsFunc(leaveOut, func(out func(emulator.Exchange) bool) bool { return out(x) }) {
			continue
		}
		r.counts[x.Operation]++
		r.units += x.Charge
	}
	return r
}

func (a *account) note() *Note {
	a.t.Helper()
	n := &Note{Title: "a note"}
	a.must(a.notes.Create(a.t.Context(), n))
	return n
}

func (a *account) person(name string) *Person {
	a.t.Helper()
	p := &Person{Name: name}
	a.must(a.persons.Create(a.t.Context(), p))
	return p
}

// thousands writes a number as the table does.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
