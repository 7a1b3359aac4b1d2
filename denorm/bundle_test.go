package denorm_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.uber.org/goleak"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/internal/catalogue"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

func TestMain(m *testing.M) {
	if endpoint := os.Getenv(childEndpoint); endpoint != "" {
		if err := runChild(endpoint, os.Getenv(childKey)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// The forest of these tests: teams of persons, tasks that persons work on,
// comments under tasks, and labels that are linked with tasks. Tasks live in a
// container of their own, under a key of three levels.

type Team struct {
	tenantitem.TenantItem[Team]
	Name string `json:"name"`
	City string `json:"city,omitempty"`
}

type Person struct {
	tenantitem.TenantItem[Person]
	Name      string               `json:"name"`
	Age       int                  `json:"age,omitempty"`
	TeamID    tenantitem.Ref[Team] `json:"teamId,omitempty"`
	TeamName  string               `json:"teamName,omitempty" denorm:"sync,ref=teamId,field=name"`
	TaskCount int                  `json:"taskCount"`
	LastTasks []TaskCard           `json:"lastTasks"`
	Watching  int                  `json:"watching"`
}

type TaskCard struct {
	ID    tenantitem.Ref[Task] `json:"id"`
	Title string               `json:"title"`
}

type Task struct {
	tenantitem.TenantItem[Task]
	Project      string                   `json:"project"`
	Title        string                   `json:"title"`
	AssigneeID   tenantitem.Ref[Person]   `json:"assigneeId,omitempty"`
	AssigneeName string                   `json:"assigneeName,omitempty" denorm:"sync,ref=assigneeId,field=name"`
	AssigneeTeam *string                  `json:"assigneeTeam,omitempty" denorm:"sync,ref=assigneeId,field=teamName"`
	AssigneeAge  int                      `json:"assigneeAge" denorm:"snapshot,ref=assigneeId,field=age"`
	WatcherIDs   []tenantitem.Ref[Person] `json:"watcherIds,omitempty"`
	Plan         Plan                     `json:"plan"`
	CommentCount int                      `json:"commentCount"`
	Labels       []tenantitem.Ref[Label]  `json:"labels"`
}

type Plan struct {
	Steps []Step `json:"steps,omitempty"`
}

type Step struct {
	Note       string                 `json:"note,omitempty"`
	PersonID   tenantitem.Ref[Person] `json:"personId,omitempty"`
	PersonName string                 `json:"personName,omitempty" denorm:"sync,ref=personId,field=name"`
	NameThen   string                 `json:"nameThen,omitempty" denorm:"snapshot,ref=personId,field=name"`
}

type Comment struct {
	parented.ParentedItem[Comment, Task]
	AuthorID   tenantitem.Ref[Person] `json:"authorId,omitempty"`
	AuthorName string                 `json:"authorName,omitempty" denorm:"snapshot,ref=authorId,field=name"`
	Body       string                 `json:"body"`
}

type Label struct {
	tenantitem.TenantItem[Label]
	Text  string                 `json:"text"`
	Tasks []tenantitem.Ref[Task] `json:"tasks"`
}

func entities() []registry.Declaration {
	return []registry.Declaration{
		registry.EntityOf[Team](),
		registry.EntityOf[Person](),
		registry.EntityOf[Task](registry.In("tasks"), registry.UniqueIDs()),
		registry.ChildOf[Comment, Task](parented.Cascade),
		registry.EntityOf[Label](),
		registry.EntityOf[Shift](),
	}
}

func declarations() []denorm.Declaration {
	return []denorm.Declaration{
		denorm.CountOf[Person, Task]("taskCount", "assigneeId"),
		denorm.RecentOf[Person, Task]("lastTasks", 2, "assigneeId"),
		denorm.CountOf[Person, Task]("watching", "watcherIds"),
		denorm.CountOf[Task, Comment]("commentCount", "parentId"),
		denorm.LinkOf[Task, Label]("labels", "tasks"),
	}
}

func layout() registry.Config {
	return registry.Config{
		Database: "work", Provision: true, Logger: slog.New(slog.DiscardHandler),
		Containers: []registry.Container{{ID: "tasks", PartitionKey: []string{"/tenantId", "/entityType", "/project"}}},
	}
}

// testBundle is an application over an account of its own.
type testBundle struct {
	t        failer
	ctx      context.Context
	emu      *emulatortest.Emulator
	client   *azcosmos.Client
	db       *registry.Database
	keeper   *denorm.Keeper
	teams    *repository.Repository[Team]
	persons  *repository.Repository[Person]
	tasks    *repository.Repository[Task]
	comments *parented.Repository[Comment, Task]
	labels   *repository.Repository[Label]
}

const acme = "acme"

// failer is a *testing.T, or the one of a property under test.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
	Logf(format string, args ...any)
}

func setup(t testing.TB, opts ...emulatortest.Option) *testBundle {
	t.Helper()
	return setupOn(t, emulatortest.New(t, opts...))
}

// quickly is a client that does not wait long before it tries again.
func quickly() *azcosmos.ClientOptions {
	return repository.ClientOptions(&azcosmos.ClientOptions{ClientOptions: azcore.ClientOptions{
		Retry: policy.RetryOptions{RetryDelay: time.Millisecond, MaxRetryDelay: 5 * time.Millisecond},
	}})
}

func setupOn(t testing.TB, emu *emulatortest.Emulator) *testBundle {
	t.Helper()
	b := &testBundle{t: t, ctx: t.Context(), emu: emu}
	b.client = b.emu.Client(quickly())
	b.db, b.keeper = open(t, b.client, "", declarations()...)
	if err := b.db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.teams, b.persons, b.tasks, b.labels = repo[Team](t, b.db), repo[Person](t, b.db), repo[Task](t, b.db), repo[Label](t, b.db)
	var err error
	if b.comments, err = registry.ChildrenOf[Comment, Task](b.db); err != nil {
		t.Fatal(err)
	}
	return b
}

// open opens the layout with these declarations; a keeper of another name
// sees everything again from the beginning.
func open(t testing.TB, client *azcosmos.Client, name string, d ...denorm.Declaration) (*registry.Database, *denorm.Keeper) {
	t.Helper()
	return openLayout(t, client, name, layout(), entities(), d)
}

func openLayout(t testing.TB, client *azcosmos.Client, name string, cfg registry.Config, entities []registry.Declaration, d []denorm.Declaration) (*registry.Database, *denorm.Keeper) {
	t.Helper()
	copies := denorm.New(denorm.Config{Name: name, Processor: changefeed.Config{
		PollInterval: 50 * time.Millisecond, BalanceInterval: 20 * time.Millisecond, LeaseDuration: 2 * time.Second, Backoff: time.Millisecond,
	}}, d...)
	plan, err := registry.NewPlan(cfg, entities, copies.Extension())
	if err != nil {
		t.Fatal(err)
	}
	db, err := registry.Open(client, plan)
	if err != nil {
		t.Fatal(err)
	}
	keeper, err := copies.Keeper()
	if err != nil {
		t.Fatal(err)
	}
	return db, keeper
}

func repo[T any, PT tenantitem.Root[T]](t testing.TB, db *registry.Database) *repository.Repository[T] {
	t.Helper()
	r, err := registry.RepositoryOf[T, PT](db)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// handOver lets what is read from here on see what these processes have seen, keepers among them: it is promised to nobody else that
// one process reads at once what another one wrote.
func (b *testBundle) handOver(processes ...*registry.Database) {
	b.t.Helper()
	for _, db := range processes {
		for _, e := range catalogue.Entities(db) {
			b.ctx = repository.WithSession(b.ctx, e.Collection.SessionToken())
		}
	}
}

func (b *testBundle) catchUp() {
	b.t.Helper()
	b.must(b.keeper.CatchUp(b.ctx))
}

func (b *testBundle) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *testBundle) person(name string) *Person {
	b.t.Helper()
	p := &Person{Name: name}
	b.must(b.persons.In(acme).Create(b.ctx, p))
	return p
}

func (b *testBundle) task(project string, assignee *Person) *Task {
	b.t.Helper()
	task := &Task{Title: "t", AssigneeID: assignee.Ref()}
	b.must(b.tasks.In(acme, project).Create(b.ctx, task))
	return task
}

func (b *testBundle) rename(p *Person, name string) {
	b.t.Helper()
	_, err := b.persons.In(acme).Mutate(b.ctx, p.ID, func(p *Person) error { p.Name = name; return nil })
	b.must(err)
}

func (b *testBundle) reread(task *Task) *Task {
	b.t.Helper()
	got, err := b.tasks.In(acme, task.Project).Get(b.ctx, task.ID)
	b.must(err)
	return got
}

func (b *testBundle) audit() []denorm.Drift {
	b.t.Helper()
	var all []denorm.Drift
	for d, err := range b.keeper.Audit(b.ctx, acme) {
		b.must(err)
		all = append(all, d)
	}
	return all
}

func (b *testBundle) noDrift() {
	b.t.Helper()
	for _, d := range b.audit() {
		b.t.Errorf("drift in %s %s, %s: have %s, want %s", d.EntityType, d.ID, d.Pointer, d.Have, d.Want)
	}
}

// requests returns what f asked of the account, without leases and the feed.
func (b *testBundle) requests(f func()) map[emulator.Operation]int {
	mark := b.emu.Service().Log().Mark()
	f()
	out := map[emulator.Operation]int{}
	for _, x := range b.emu.Service().Log().Since(mark) {
		if x.Container != "grove-leases" {
			out[x.Operation]++
		}
	}
	return out
}
