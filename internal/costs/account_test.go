package costs

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

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

// Album can be restored, with the photos below it.
type Album struct {
	tenantitem.TenantItem[Album]
	Title string `json:"title"`
}

type Photo struct {
	parented.ParentedItem[Photo, Album]
	Title string `json:"title"`
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

// Book and its chapters lie in one logical partition.
type Book struct {
	tenantitem.TenantItem[Book]
	Title string `json:"title"`
}

type Chapter struct {
	parented.ParentedItem[Chapter, Book]
	Title string `json:"title"`
}

const tenant = "acme"

// shared is a container in which everything of a tenant lies in one logical partition.
const shared = "shared"

// account is an application over an account of its own.
type account struct {
	t        *testing.T
	emulator *emulatortest.Emulator
	db       *registry.Database
	keeper   *denorm.Keeper
	notes    *repository.Scope[Note]
	comments *parented.Repository[Comment, Note]
	lines    *parented.Buckets[Line, Note]
	albums   *repository.Scope[Album]
	photos   *parented.Repository[Photo, Album]
	books    *repository.Scope[Book]
	chapters *parented.Repository[Chapter, Book]
	persons  *repository.Scope[Person]
	tasks    *repository.Scope[Task]
}

// open opens an application whose keeper works with the default intervals.
func open(t *testing.T, partitions int) *account {
	t.Helper()
	a := &account{t: t, emulator: emulatortest.New(t, emulatortest.Calm(), emulatortest.WithPartitions(partitions))}
	copies := denorm.New(denorm.Config{Processor: changefeed.Config{}})
	plan, err := registry.NewPlan(registry.Config{
		Database: "costs", Provision: true, Logger: slog.New(slog.DiscardHandler),
		Containers: []registry.Container{{ID: shared, PartitionKey: []string{"/tenantId"}}},
	}, []registry.Declaration{
		registry.EntityOf[Note](), registry.ChildOf[Comment, Note](parented.Cascade), registry.BucketOf[Line, Note](parented.Cascade),
		registry.EntityOf[Album](registry.SoftDelete(24 * time.Hour)), registry.ChildOf[Photo, Album](parented.Cascade),
		registry.EntityOf[Book](registry.In(shared)), registry.ChildOf[Chapter, Book](parented.Cascade, registry.In(shared)),
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
	albums, err := registry.RepositoryOf[Album](a.db)
	a.must(err)
	a.photos, err = registry.ChildrenOf[Photo, Album](a.db)
	a.must(err)
	books, err := registry.RepositoryOf[Book](a.db)
	a.must(err)
	a.chapters, err = registry.ChildrenOf[Chapter, Book](a.db)
	a.must(err)
	a.notes, a.albums, a.books, a.persons, a.tasks = notes.In(tenant), albums.In(tenant), books.In(tenant), persons.In(tenant), tasks.In(tenant)
	return a
}

func (a *account) must(err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
}

// count is a row of the table: the requests that f makes, and the least that its promise allows. What the SDK asks
// for its own caches is left out, since it depends on what ran before, and so
// are the exchanges for which leaveOut is true.
func (a *account) count(work string, least bound, f func() error, leaveOut ...func(emulator.Exchange) bool) row {
	a.t.Helper()
	r := row{work: work, least: least, counts: map[emulator.Operation]int{}}
	synctest.Wait() // until what ran before has ended
	mark := a.emulator.Requests().Mark()
	a.must(f())
	synctest.Wait()
	held := a.emulator.Requests().Since(mark)
	if all := a.emulator.Requests().Mark() - mark; len(held) < all {
		a.t.Fatalf("%s: the log holds only the latest %d of %d requests", work, len(held), all)
	}
	for _, x := range held {
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

// thousands writes a number as the page does.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
