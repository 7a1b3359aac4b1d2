package layout_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/repository/layout"
)

// Tickets as another system writes them: other names, ids with a prefix, and
// the fields in an envelope. The application's code does not know.
func ExampleLayout() {
	ctx := context.Background()
	tickets, container, done := ticketsIn("/org", layout.Layout{
		Names:    map[string]string{"tenantId": "org", "entityType": "$type"},
		IDPrefix: "Ticket|",
		Envelope: "data",
		NoMarks:  true,
	})
	defer done()
	check(tickets.In("acme").Create(ctx, newTicket("1", "2026-01-02")))

	answer, err := container.ReadItem(ctx, azcosmos.NewPartitionKeyString("acme"), "Ticket|1", nil)
	check(err)
	var stored struct {
		Org  string          `json:"org"`
		Type string          `json:"$type"`
		Data json.RawMessage `json:"data"`
	}
	check(json.Unmarshal(answer.Value, &stored))
	fmt.Println(stored.Org, stored.Type, string(stored.Data))
	// Output: acme Ticket {"title":"It is dark","opened":"2026-01-02"}
}

// Where a level of the key is a member of the document, the member of the
// entity that it stands for is found by its stored name.
func ExampleLayout_keyFields() {
	theirs := &layout.Layout{Names: map[string]string{"tenantId": "org"}}
	fmt.Println(theirs.KeyFields([]string{"/org", "/address/city"}))
	// Output: [tenantId address.city]
}

// Nothing in the container says a type, and no tenant either: a catalogue.
func ExampleUntyped() {
	ctx := context.Background()
	untyped := layout.AllUntyped
	tickets, container, done := ticketsIn("/id", layout.Layout{Untyped: untyped, Global: true})
	defer done()
	_, err := container.CreateItem(ctx, azcosmos.NewPartitionKeyString("7"), []byte(`{"id":"7","title":"of another system"}`), nil)
	check(err)
	ticket, err := tickets.Global().Get(ctx, "7")
	check(err)
	fmt.Println(ticket.Title)
	// Output: of another system
}
