package registry_test

import (
	"context"
	"fmt"
	"log"

	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
)

func ExampleDatabase() {
	ctx := context.Background()
	db := exampleDatabase(registry.EntityOf[Note](), registry.ChildOf[Comment, Note](parented.Cascade))

	comments, err := registry.ChildrenOf[Comment, Note](db)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(comments.EntityType(), "under", comments.Parents().EntityType())

	resumed, err := db.Forest().Resume(ctx) // deletes that died with their process
	fmt.Println(resumed.Finished, err)

	container, ok := db.Container(registry.DefaultContainer) // the SDK's: it knows no tenants
	fmt.Println(container.ID(), ok, db.Client().Endpoint() != "", db.Plan().Database())
	// Output:
	// Comment under Note
	// 0 <nil>
	// documents true true notes
}

// A service without fx finishes what dead processes began for as long as it runs.
func ExampleDatabase_Upkeep() {
	db := exampleDatabase(registry.EntityOf[Note](), registry.ChildOf[Comment, Note](parented.Cascade))
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { db.Upkeep(ctx); close(ended) }()
	// ... until the service stops:
	stop()
	<-ended
	fmt.Println("stopped")
	// Output: stopped
}

// Where containers are made by other means, the application only compares.
func ExampleCheck() {
	ctx := context.Background()
	client, err := exampleClient()
	if err != nil {
		log.Fatal(err)
	}
	plan, err := registry.NewPlan(registry.Config{Database: "notes", Logger: quiet()}, []registry.Declaration{registry.EntityOf[Note]()})
	if err != nil {
		log.Fatal(err)
	}
	_, err = registry.Check(ctx, client, plan)
	fmt.Println("before it is made:", err != nil)
	if _, err := registry.Provision(ctx, client, plan); err != nil {
		log.Fatal(err)
	}
	differences, err := registry.Check(ctx, client, plan)
	fmt.Println("differences:", len(differences), err)
	// Output:
	// before it is made: true
	// differences: 0 <nil>
}

// Step is kept a hundred to a document: it is small, and there are many.
type Step struct {
	Text string `json:"text"`
}

func ExampleBucketsOf() {
	ctx := context.Background()
	db := exampleDatabase(registry.EntityOf[Note](), registry.BucketOf[Step, Note](parented.Cascade, registry.Capacity(100)))
	notes, err := registry.RepositoryOf[Note](db)
	if err != nil {
		log.Fatal(err)
	}
	steps, err := registry.BucketsOf[Step, Note](db)
	if err != nil {
		log.Fatal(err)
	}
	note := &Note{Title: "a long way"}
	if err := notes.In("acme").Create(ctx, note); err != nil {
		log.Fatal(err)
	}
	for i := range 3 {
		if _, err := steps.Under(note).Append(ctx, Step{Text: fmt.Sprint("step ", i+1)}); err != nil {
			log.Fatal(err)
		}
	}
	n, err := steps.Under(note).Count(ctx)
	documents, _ := steps.Documents().Under(note).Count(ctx, repository.All())
	fmt.Println(n, "steps in", documents, "document", err)
	// Output: 3 steps in 1 document <nil>
}

// With fx, one line registers children that are kept many to a document.
func ExampleBuckets() {
	app := fx.New(
		fx.NopLogger,
		fx.Provide(exampleClient),
		registry.Module(registry.Config{Database: "notes", Provision: true, Logger: quiet()}),
		registry.Entity[Note](),
		registry.Buckets[Step, Note](parented.Cascade),
		fx.Invoke(func(steps *parented.Buckets[Step, Note]) { fmt.Println(steps.Documents().EntityType()) }),
	)
	fmt.Println(app.Err())
	// Output:
	// Step
	// <nil>
}
