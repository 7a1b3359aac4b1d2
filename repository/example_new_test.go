package repository_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
)

// A repository of an entity, in a container that is there. Applications leave
// this to package registry, which knows what lives where.
func ExampleNew() {
	t, done := exampleTest()
	defer done()
	account := emulatortest.New(t) // stands for an account of Azure
	credential, err := azcosmos.NewKeyCredential(account.Key())
	if err != nil {
		log.Fatal(err)
	}
	options := &azcosmos.ClientOptions{PreferredRegions: []string{"West Europe"}}
	options.Transport = account.Transport()
	client, err := azcosmos.NewClientWithKey(account.Endpoint(), credential, repository.ClientOptions(options))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	container := newContainer(t, client, "/tenantId", "/entityType")

	notes, err := repository.New[Note](container, repository.Config{EntityType: "note", Aliases: []string{"Note"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(notes.In("acme").Create(context.Background(), &Note{Title: "first"}))
	// Output: <nil>
}

func ExampleRepository() {
	t, done := exampleTest()
	defer done()
	notes := setupNotes(t).notes // safe for use by many goroutines

	acme := notes.In("acme")
	fmt.Println(notes.EntityType(), "of", acme.Tenant(), "in", notes.Container().ID())
	_, ok := notes.Model().Field("address.city")
	fmt.Println("it has a city:", ok)
	// Output:
	// Note of acme in main
	// it has a city: true
}

// Repositories of one container share what they know of its sessions, so that
// each reads what the others wrote.
func ExampleSessions() {
	t, done := exampleTest()
	defer done()
	container := setupNotes(t).container
	sessions := new(repository.Sessions)
	notes, _ := repository.New[Note](container, repository.Config{Sessions: sessions})
	tasks, _ := repository.New[Task](container, repository.Config{Sessions: sessions})

	_ = notes.In("acme").Create(context.Background(), &Note{Title: "first"})
	fmt.Println(tasks.SessionToken() == notes.SessionToken(), tasks.SessionToken() != "")
	// Output: true true
}

// Every verb is a span and a point in two histograms; what deserves a look is logged.
func ExampleTelemetry() {
	t, done := exampleTest()
	defer done()
	spans := tracetest.NewSpanRecorder()
	notes, _ := repository.New[Note](setupNotes(t).container, repository.Config{Telemetry: repository.Telemetry{
		TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)),
		Logger:         slog.New(slog.DiscardHandler),
		Tenant:         true, // a few tenants; many make many time series
		CostlyQuery:    50,   // RU
	}})
	_ = notes.In("acme").Create(context.Background(), &Note{Title: "first"})
	for _, span := range spans.Ended() {
		fmt.Println(span.Name())
	}
	// Output: Create main
}
