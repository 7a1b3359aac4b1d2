package code

import (
	"context"
	"fmt"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

type Reply struct {
	tenantitem.TenantItem[Reply]
	TaskID tenantitem.Ref[Task] `json:"taskId"`
	Text   string               `json:"text"`
}

// snippet: declare
type Task struct {
	tenantitem.TenantItem[Task]
	OwnerID       tenantitem.Ref[Person] `json:"ownerId,omitempty"`
	OwnerName     string                 `json:"ownerName,omitempty" denorm:"sync,ref=ownerId,field=firstName"`
	ReplyCount    int                    `json:"replyCount"`
	RecentReplies []ReplyCard            `json:"recentReplies,omitempty"`
}

type ReplyCard struct {
	Text string `json:"text"`
}

var tasks = fx.Options(
	registry.Entity[Person](),
	registry.Entity[Task](),
	registry.Entity[Reply](),
	denorm.Module,
	denorm.Count[Task, Reply]("replyCount", "taskId"),
	denorm.Recent[Task, Reply]("recentReplies", 3),
)

// end snippet

func TestCopies(t *testing.T) {
	t.Parallel()
	var (
		client  *azcosmos.Client
		people  *repository.Repository[Person]
		all     *repository.Repository[Task]
		replies *repository.Repository[Reply]
		keeper  *denorm.Keeper
	)
	emulatortest.FX(t, fx.Options(
		registry.Module(registry.Config{Database: "tasks", Provision: true}),
		tasks, fx.Populate(&client, &people, &all, &replies, &keeper),
	))
	ctx := t.Context()
	owner := &Person{FirstName: "Ada"}
	if err := people.In("acme").Create(ctx, owner); err != nil {
		t.Fatal(err)
	}
	task := &Task{OwnerID: owner.Ref()}
	if err := all.In("acme").Create(ctx, task); err != nil {
		t.Fatal(err)
	}
	if task.OwnerName != "Ada" {
		t.Error("the copy was not filled on write:", task.OwnerName)
	}
	if err := replies.In("acme").Create(ctx, &Reply{TaskID: task.Ref(), Text: "soon"}); err != nil {
		t.Fatal(err)
	}
	repair := func(ctx context.Context) error {
		// snippet: keeper
		if err := keeper.CatchUp(ctx); err != nil { // all changes so far are followed: what a test waits for
			return err
		}
		for drift, err := range keeper.Audit(ctx, "acme") { // compares, and changes nothing
			if err != nil {
				return err
			}
			fmt.Println(drift)
		}
		progress, err := keeper.Repair(ctx, "acme", nil) // writes what should be there
		// end snippet
		fmt.Println(progress)
		return err
	}
	if err := repair(ctx); err != nil {
		t.Fatal(err)
	}
	got, err := all.In("acme").Get(ctx, task.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got.ReplyCount != 1 || len(got.RecentReplies) != 1 {
		t.Error(got.ReplyCount, got.RecentReplies)
	}
}

// Mailer stands for a service of the application that handles changes.
type Mailer struct{ sent chan string }

func (m *Mailer) Invoice(ctx context.Context, changes []changefeed.Change) error {
	for _, change := range changes {
		select {
		case m.sent <- change.ID:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// snippet: process
var invoices = denorm.Process[Task]("invoices", func(m *Mailer) changefeed.Handler { return m.Invoice })

// end snippet

func TestProcess(t *testing.T) {
	t.Parallel()
	mailer := &Mailer{sent: make(chan string, 10)}
	var (
		all    *repository.Repository[Task]
		client *azcosmos.Client
	)
	emulatortest.FX(t, fx.Options(
		registry.Module(registry.Config{Database: "tasks", Provision: true}),
		tasks, invoices, fx.Supply(mailer), fx.Populate(&all, &client),
	))
	task := &Task{}
	if err := all.In("acme").Create(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	if id := <-mailer.sent; id != task.ID {
		t.Error(id)
	}
	// The same without fx.
	database, err := client.NewDatabase("tasks")
	if err != nil {
		t.Fatal(err)
	}
	orders, err := database.NewContainer("documents")
	if err != nil {
		t.Fatal(err)
	}
	leases, err := database.NewContainer("grove-leases")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	handle := func(context.Context, []changefeed.Change) error { cancel(); return nil }
	alone := func() error {
		// snippet: processor
		p, err := changefeed.New(changefeed.Config{Container: orders, Leases: leases, Name: "reminders"}, handle)
		if err != nil {
			return err
		}
		return p.Run(ctx) // until the context ends; several processes share the work
		// end snippet
	}
	done := make(chan error, 1)
	go func() { done <- alone() }()
	if err := all.In("acme").Create(t.Context(), &Task{}); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	if err := <-done; err != nil && ctx.Err() == nil {
		t.Error(err)
	}
}
