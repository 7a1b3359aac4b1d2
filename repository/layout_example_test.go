package repository_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/layout"
	"github.com/cosmosgrove/grove/tenantitem"
)

type Ticket struct {
	tenantitem.TenantItem[Ticket]
	Title  string `json:"title"`
	Opened string `json:"opened"`
}

// ticketsIn makes a container as another team would, and opens it.
func ticketsIn(key string, layout layout.Layout) (*repository.Repository[Ticket], *azcosmos.ContainerClient, func()) {
	tb, done := exampleTest()
	ctx := context.Background()
	client := emulatortest.Client(tb)
	_, err := client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: "theirs"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	database, err := client.NewDatabase("theirs")
	if err != nil {
		log.Fatal(err)
	}
	_, err = database.CreateContainer(ctx, azcosmos.ContainerProperties{ID: "tickets", PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{key}}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	container, err := client.NewContainer("theirs", "tickets")
	if err != nil {
		log.Fatal(err)
	}
	tickets, err := repository.New[Ticket](container, repository.Config{PartitionKey: []string{key}, Layout: &layout})
	if err != nil {
		log.Fatal(err)
	}
	return tickets, container, done
}

func Example_layout() {
	ctx := context.Background()
	tickets, container, done := ticketsIn("/org", layout.Layout{
		Names:    map[string]string{"tenantId": "org", "entityType": "$type"},
		IDPrefix: "Ticket|",
		Envelope: "data",
		NoMarks:  true,
	})
	defer done()
	err := tickets.In("acme").Create(ctx, &Ticket{TenantItem: withID("1"), Title: "It is dark", Opened: "2026-01-02"})
	if err != nil {
		log.Fatal(err)
	}
	answer, err := container.ReadItem(ctx, azcosmos.NewPartitionKeyString("acme"), "Ticket|1", nil)
	if err != nil {
		log.Fatal(err)
	}
	var stored struct {
		Org  string          `json:"org"`
		Type string          `json:"$type"`
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(answer.Value, &stored); err != nil {
		log.Fatal(err)
	}
	fmt.Println(stored.Org, stored.Type, string(stored.Data))
	// Output: acme Ticket {"title":"It is dark","opened":"2026-01-02"}
}

func withID(id string) tenantitem.TenantItem[Ticket] {
	return tenantitem.TenantItem[Ticket]{Meta: tenantitem.Meta{ID: id}}
}

func Example_layout_format() {
	ctx := context.Background()
	// A tenant's month is a logical partition.
	tickets, _, done := ticketsIn("/partitionKey", layout.Layout{
		Key: []layout.KeySource{layout.Format("%s-%.7s", "tenantId", "opened")},
	})
	defer done()
	acme := tickets.In("acme")
	for i, day := range []string{"2026-01-02", "2026-01-30", "2026-02-01"} {
		if err := acme.Create(ctx, &Ticket{TenantItem: withID(fmt.Sprint(i)), Title: "t", Opened: day}); err != nil {
			log.Fatal(err)
		}
	}
	n, err := acme.Count(ctx, repository.All())
	if err != nil {
		log.Fatal(err)
	}
	_, err = acme.Patch(ctx, "0", repository.Set("/opened", "2026-02-02"))
	fmt.Println(n, err)
	// Output: 3 Patch Ticket "0" of tenant "acme": invalid patch path "/opened": it is part of the document's identity (create a new document and delete the old one)
}

func Example_layout_computed() {
	ctx := context.Background()
	// Ten partitions, by the last character of the id.
	tickets, _, done := ticketsIn("/bucket", layout.Layout{
		Key: []layout.KeySource{layout.Computed(func(values []any) (any, error) {
			id, _ := values[0].(string)
			return id[len(id)-1:], nil
		}, "id")},
	})
	defer done()
	if err := tickets.In("acme").Create(ctx, &Ticket{TenantItem: withID("42"), Title: "It is dark"}); err != nil {
		log.Fatal(err)
	}
	// The key is made of nothing but the id, so this is a point read.
	ticket, err := tickets.In("acme").Get(ctx, "42")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ticket.Title)
	// Output: It is dark
}

func Example_layout_fromField() {
	ctx := context.Background()
	tickets, _, done := ticketsIn("/pk", layout.Layout{Key: []layout.KeySource{layout.FromField("opened")}})
	defer done()
	if err := tickets.In("acme", "2026-01-02").Create(ctx, &Ticket{TenantItem: withID("1"), Title: "It is dark"}); err != nil {
		log.Fatal(err)
	}
	_, err := tickets.In("globex", "2026-01-02").Get(ctx, "1") // the tenant is no part of the key
	fmt.Println(err)
	// Output: Get Ticket "1" of tenant "globex": tenant mismatch (open the scope with the tenant that the entity and the context name)
}

func ExampleRepository_Global() {
	ctx := context.Background()
	tickets, _, done := ticketsIn("/kind", layout.Layout{
		Key:     []layout.KeySource{layout.Constant("ticket")},
		Untyped: layout.AllUntyped,
		Global:  true,
	})
	defer done()
	if err := tickets.Global().Create(ctx, &Ticket{TenantItem: withID("1"), Title: "It is dark"}); err != nil {
		log.Fatal(err)
	}
	ticket, err := tickets.Global().Get(ctx, "1")
	if err != nil {
		log.Fatal(err)
	}
	_, err = tickets.Global().Get(repository.WithTenant(ctx, "acme"), "1")
	fmt.Printf("%s %q %v\n", ticket.Title, ticket.TenantID, err != nil)
	// Output: It is dark "" true
}

func ExampleRepository_Decode() {
	tickets, _, done := ticketsIn("/org", layout.Layout{Names: map[string]string{"tenantId": "org"}})
	defer done()
	ticket, err := tickets.Decode([]byte(`{"id":"1","org":"acme","entityType":"Ticket","title":"It is dark"}`))
	if err != nil {
		log.Fatal(err)
	}
	_, err = tickets.Decode([]byte(`{"id":"2","org":"acme","entityType":"Person"}`))
	fmt.Println(ticket.TenantID, ticket.Title, err != nil)
	// Output: acme It is dark true
}

func Example_layout_keyFields() {
	layout := &layout.Layout{Names: map[string]string{"tenantId": "org"}}
	fmt.Println(layout.KeyFields([]string{"/org", "/address/city"}))
	// Output: [tenantId address.city]
}

func Example_layout_fromTenant() {
	ctx := context.Background()
	tickets, _, done := ticketsIn("/partitionKey", layout.Layout{Key: []layout.KeySource{layout.FromTenant()}})
	defer done()
	err := tickets.In("acme").Create(ctx, &Ticket{TenantItem: withID("1"), Title: "It is dark"})
	fmt.Println(err)
	// Output: <nil>
}

func Example_layout_fromEntityType() {
	ctx := context.Background()
	tickets, _, done := ticketsIn("/type", layout.Layout{
		Key:    []layout.KeySource{layout.FromEntityType()},
		Names:  map[string]string{"entityType": "type"},
		Global: true,
	})
	defer done()
	err := tickets.Global().Create(ctx, &Ticket{TenantItem: withID("1"), Title: "It is dark"})
	fmt.Println(err)
	// Output: <nil>
}

func Example_layout_constant() {
	layout := layout.Layout{Key: []layout.KeySource{layout.FromTenant(), layout.Constant("tickets")}}
	fmt.Println(len(layout.Key), "levels are filled by themselves")
	// Output: 2 levels are filled by themselves
}
