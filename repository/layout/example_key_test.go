package layout_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/layout"
)

// The tenant fills the container's key, whatever that is called.
func ExampleFromTenant() {
	ctx := context.Background()
	tickets, container, done := ticketsIn("/partitionKey", layout.Layout{Key: []layout.KeySource{layout.FromTenant()}})
	defer done()
	check(tickets.In("acme").Create(ctx, newTicket("1", "2026-01-02")))
	_, err := container.ReadItem(ctx, azcosmos.NewPartitionKeyString("acme"), "1", nil)
	fmt.Println(err)
	// Output: <nil>
}

// All documents of one type are a logical partition.
func ExampleFromEntityType() {
	ctx := context.Background()
	tickets, container, done := ticketsIn("/type", layout.Layout{
		Key:    []layout.KeySource{layout.FromEntityType()},
		Names:  map[string]string{"entityType": "type"},
		Global: true,
	})
	defer done()
	check(tickets.Global().Create(ctx, newTicket("1", "2026-01-02")))
	_, err := container.ReadItem(ctx, azcosmos.NewPartitionKeyString("Ticket"), "1", nil)
	fmt.Println(err)
	// Output: <nil>
}

// The key is a field, and no tenant: documents of another tenant are found
// there, and refused.
func ExampleFromField() {
	ctx := context.Background()
	tickets, _, done := ticketsIn("/pk", layout.Layout{Key: []layout.KeySource{layout.FromField("opened")}})
	defer done()
	check(tickets.In("acme", "2026-01-02").Create(ctx, newTicket("1", "2026-01-02")))
	_, err := tickets.In("globex", "2026-01-02").Get(ctx, "1")
	fmt.Println(errors.Is(err, repository.ErrTenantMismatch))
	// Output: true
}

// One value for all documents: a small container that is one logical partition.
func ExampleConstant() {
	ctx := context.Background()
	tickets, container, done := ticketsIn("/kind", layout.Layout{Key: []layout.KeySource{layout.Constant("ticket")}})
	defer done()
	check(tickets.In("acme").Create(ctx, newTicket("1", "2026-01-02")))
	_, err := container.ReadItem(ctx, azcosmos.NewPartitionKeyString("ticket"), "1", nil)
	fmt.Println(err)
	// Output: <nil>
}

// A synthetic key: a tenant's month is a logical partition. What is part of
// the key can't be changed.
func ExampleFormat() {
	ctx := context.Background()
	month := layout.Format("%s-%.7s", "tenantId", "opened")
	tickets, _, done := ticketsIn("/partitionKey", layout.Layout{Key: []layout.KeySource{month}})
	defer done()
	acme := tickets.In("acme")
	for i, day := range []string{"2026-01-02", "2026-01-30", "2026-02-01"} {
		check(acme.Create(ctx, newTicket(fmt.Sprint(i), day)))
	}
	n, err := acme.Count(ctx, repository.All())
	fmt.Println(n, err)
	_, err = acme.Patch(ctx, "0", repository.Set("/opened", "2026-02-02"))
	fmt.Println(errors.Is(err, repository.ErrInvalid))
	// Output:
	// 3 <nil>
	// true
}

// Ten logical partitions, by the last character of the id. The key is made of
// nothing but the id, so a read by id is a point read.
func ExampleComputed() {
	ctx := context.Background()
	last := layout.Computed(func(values []any) (any, error) {
		id, _ := values[0].(string)
		return id[len(id)-1:], nil
	}, "id")
	tickets, _, done := ticketsIn("/bucket", layout.Layout{Key: []layout.KeySource{last}})
	defer done()
	check(tickets.In("acme").Create(ctx, newTicket("42", "2026-01-02")))
	counted, tally := repository.WithTally(ctx)
	ticket, err := tickets.In("acme").Get(counted, "42")
	fmt.Println(ticket.Title, tally.Requests(), err)
	// Output: It is dark 1 <nil>
}
