package repository_test

import (
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
)

// A document that is nested as deeply as the service allows, by another
// program, hides no other: in a page, in a sorted one, and for a client that
// only reads.
func TestDeeplyNestedDocumentsAreRead(t *testing.T) {
	t.Parallel()
	e := emulatortest.New(t)
	ctx := t.Context()
	client := e.Client(repository.ClientOptions(nil))
	id := emulatortest.DatabaseID(t, client, "nested")
	_, err := client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: id}, nil)
	must(t, err)
	db, err := client.NewDatabase(id)
	must(t, err)
	_, err = db.CreateContainer(ctx, azcosmos.ContainerProperties{
		ID:                     "main",
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/tenantId", "/entityType"}, Kind: azcosmos.PartitionKeyKindMultiHash, Version: 2},
	}, nil)
	must(t, err)
	container, err := db.NewContainer("main")
	must(t, err)
	writer := newRepository(t, container, repository.Config{})
	must(t, writer.In("acme").Create(ctx, &Note{Title: "plain"}))
	key := azcosmos.NewPartitionKeyString("acme").AppendString("Note")
	deep := strings.Repeat("[", 120) + strings.Repeat("]", 120)
	_, err = container.CreateItem(ctx, key, []byte(`{"id":"odd","tenantId":"acme","entityType":"Note","title":"odd","foreign":`+deep+`}`), nil)
	must(t, err)

	plain, err := e.Client(&azcosmos.ClientOptions{}).NewContainer(id, "main")
	must(t, err)
	for name, notes := range map[string]*repository.Repository[Note]{"with its client": writer, "with the SDK's": newRepository(t, plain, repository.Config{})} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			titles := map[string]int{}
			count := func(n *Note, err error) {
				if err != nil {
					t.Error(err)
					return
				}
				titles[n.Title]++
			}
			for n, err := range notes.In("acme").Query(ctx, repository.All()) {
				count(n, err)
			}
			for n, err := range notes.AllTenants().Query(ctx, repository.All().OrderBy("title")) {
				count(n, err)
			}
			if titles["plain"] != 2 || titles["odd"] != 2 {
				t.Error(titles)
			}
		})
	}
}
