package repository_test

import (
	"context"
	"fmt"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Task is what the examples of this file add up.
type Task struct {
	tenantitem.TenantItem[Task]
	Status string  `json:"status"`
	Hours  float64 `json:"hours"`
}

// setupTasks makes a repository of tasks of two tenants.
func setupTasks(ctx context.Context) (tasks *repository.Repository[Task], done func()) {
	tb, done := exampleTest()
	b := setupNotes(tb)
	tasks, err := repository.New[Task](b.container, repository.Config{})
	must(tb, err)
	for i, task := range []Task{{Status: "open", Hours: 2}, {Status: "done", Hours: 5.5}, {Status: "open", Hours: 1}} {
		task.ID = fmt.Sprint(i)
		must(tb, tasks.In("acme").Create(ctx, &task))
	}
	must(tb, tasks.In("globex").Create(ctx, &Task{Status: "late", Hours: 8}))
	return tasks, done
}

func ExampleRepositoryOf_AllTenants() {
	ctx := context.Background()
	tasks, done := setupTasks(ctx)
	defer done()

	// Every physical partition sorts its own tasks; they are merged here.
	for task, err := range tasks.AllTenants().Query(ctx, repository.All().OrderByDesc("hours").Limit(2)) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(task.TenantID, task.Hours)
	}
	// Output:
	// globex 8
	// acme 5.5
}

func ExampleScopeOf_Sum() {
	ctx := context.Background()
	tasks, done := setupTasks(ctx)
	defer done()

	hours, err := tasks.In("acme").Sum(ctx, "hours", repository.Where(repository.Eq("status", "open")))
	fmt.Println(hours, err)
	// Output: 3 <nil>
}

func ExampleScopeOf_Avg() {
	ctx := context.Background()
	tasks, done := setupTasks(ctx)
	defer done()

	mean, err := tasks.AllTenants().Avg(ctx, "hours", repository.All())
	fmt.Println(mean, err)
	// Output: 4.125 <nil>
}

func ExampleScopeOf_Avg_nothing() {
	ctx := context.Background()
	tasks, done := setupTasks(ctx)
	defer done()

	_, err := tasks.In("initech").Avg(ctx, "hours", repository.All())
	fmt.Println(err)
	// Output: Avg Task of tenant "initech": not found
}

func ExampleScopeOf_Min() {
	ctx := context.Background()
	tasks, done := setupTasks(ctx)
	defer done()

	least, err := tasks.In("acme").Min(ctx, "hours", repository.All())
	fmt.Println(least, err)
	// Output: 1 <nil>
}

func ExampleScopeOf_Max() {
	ctx := context.Background()
	tasks, done := setupTasks(ctx)
	defer done()

	most, err := tasks.AllTenants().Max(ctx, "hours", repository.All())
	fmt.Println(most, err)
	// Output: 8 <nil>
}

func ExampleDistinct() {
	ctx := context.Background()
	tasks, done := setupTasks(ctx)
	defer done()

	for status, err := range repository.Distinct[string](ctx, tasks.AllTenants(), "status", repository.All()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(status)
	}
	// Output:
	// done
	// late
	// open
}

func ExampleGroupBy() {
	ctx := context.Background()
	tasks, done := setupTasks(ctx)
	defer done()

	type statusTotal struct {
		Status  string  `json:"status"`
		Tasks   int64   `json:"tasks" group:"count"`
		Hours   float64 `json:"hours" group:"sum"`
		Longest float64 `json:"longest" group:"max,field=hours"`
	}
	acme := tasks.In("acme")
	for total, err := range repository.GroupBy[statusTotal](ctx, &acme.Reader, repository.All()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(total.Status, total.Tasks, total.Hours, total.Longest)
	}
	// Output:
	// done 1 5.5 5.5
	// open 2 3 2
}
