package engine

import (
	"fmt"
	"net/http"
	"reflect"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/tenantitem"
)

type plainNote struct {
	tenantitem.TenantItem[plainNote]
}

// However many ranges a container has, the header of a request stays small.
func TestTheSessionHeaderStaysSmall(t *testing.T) {
	t.Parallel()
	client := emulatortest.Client(t)
	id := emulatortest.DatabaseID(t, client, "db")
	database, err := client.NewDatabase(id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CreateDatabase(t.Context(), azcosmos.DatabaseProperties{ID: id}, nil); err != nil {
		t.Fatal(err)
	}
	key := azcosmos.PartitionKeyDefinition{Paths: DefaultPartitionKey(), Version: 2, Kind: azcosmos.PartitionKeyKindMultiHash}
	if _, err := database.CreateContainer(t.Context(), azcosmos.ContainerProperties{ID: "main", PartitionKeyDefinition: key}, nil); err != nil {
		t.Fatal(err)
	}
	container, err := database.NewContainer("main")
	if err != nil {
		t.Fatal(err)
	}
	var repo Handle
	if err := Bind(&repo, reflect.TypeFor[plainNote](), container, Settings{}); err != nil {
		t.Fatal(err)
	}
	c := CollectionOf(&repo)
	for i := range 1000 {
		c.sessions.note(http.Header{"X-Ms-Session-Token": {fmt.Sprintf("%d:1#%d#3=%d#4=%d", i, 1_000_000+i, 1_000_000+i, 1_000_000+i)}})
	}
	for i := range 50 {
		at := c.Resolve(c.entityType, fmt.Sprint("tenant", i), nil)
		k := Call{Collection: c, Op: "Get", At: &at}
		header, err := k.sessionHeader(t.Context(), &at)
		if err != nil {
			t.Fatal(err)
		}
		if header == nil || len(*header) > maxSessionHeader || (*header)[:2] != "0:" {
			t.Fatalf("got %v", header)
		}
	}
}
