package registry_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/tenantitem"
)

type Person struct {
	tenantitem.TenantItem[Person]
	Name  string `json:"name"`
	Email string `json:"email"`
}

type Note struct {
	tenantitem.TenantItem[Note]
	Title string `json:"title"`
}

type Lookup struct {
	tenantitem.TenantItem[Lookup]
	LookupType string `json:"lookupType"`
	Rank       int    `json:"rank"`
}

// Comment is a child, Reply a child's child.
type Comment struct {
	parented.ParentedItem[Comment, Note]
	Body string `json:"body"`
}

type Reply struct {
	parented.ParentedItem[Reply, Comment]
	Body string `json:"body"`
}

// Task carries a copy, which needs an extension that keeps it.
type Task struct {
	tenantitem.TenantItem[Task]
	AssigneeID   tenantitem.Ref[Person] `json:"assigneeId"`
	AssigneeName string                 `json:"assigneeName" denorm:"sync,ref=assigneeId,field=name"`
}

// endpointToProvision makes the test binary a process that provisions an
// account and ends.
const endpointToProvision = "GROVE_TEST_PROVISION_ENDPOINT"

func TestMain(m *testing.M) {
	if endpoint := os.Getenv(endpointToProvision); endpoint != "" {
		if err := provisionAsProcess(endpoint); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if assignment := os.Getenv(tenantWork); assignment != "" {
		if err := workOnTenant(assignment); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func provisionAsProcess(endpoint string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute) // several start at the same time
	defer cancel()
	client, err := registry.NewClient(ctx, registry.ClientConfig{Endpoint: endpoint, Key: os.Getenv("GROVE_TEST_PROVISION_KEY")})
	if err != nil {
		return err
	}
	defer client.Close()
	plan, err := registry.NewPlan(sharedConfig("shared"), []registry.Declaration{
		registry.EntityOf[Person](),
		registry.EntityOf[Lookup](registry.In("lookups")),
	})
	if err != nil {
		return err
	}
	_, err = registry.Provision(ctx, client, plan)
	return err
}

// sharedConfig is what every process of the provisioning test brings.
func sharedConfig(database string) registry.Config {
	return registry.Config{
		Database:  database,
		Provision: true,
		Logger:    slog.New(slog.DiscardHandler),
		Containers: []registry.Container{{
			ID:           "lookups",
			PartitionKey: []string{"/tenantId", "/lookupType"},
			DefaultTTL:   time.Hour,
			UniqueKeys:   [][]string{{"/lookupType", "/rank"}},
		}},
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
