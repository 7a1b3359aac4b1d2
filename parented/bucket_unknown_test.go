package parented_test

import (
	"encoding/json"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/repository"
)

// Members that a newer version gave to an entry, to its value or to the bucket survive what this version does with the bucket's entries.
func TestUnknownMembersOfEntriesSurvive(t *testing.T) {
	t.Parallel()
	g, ctx := setup(t), t.Context()
	lines := g.lines(t, 10)
	note := g.tree(t, "acme", 0, 0)
	under := lines.Under(note)
	var ids []string
	for n := range 3 {
		entry, err := under.Append(ctx, Line{Number: n})
		must(t, err)
		ids = append(ids, entry.ID)
	}
	bucket, err := lines.Documents().Under(note).First(ctx, repository.All())
	must(t, err)
	container, err := g.database.NewContainer("items")
	must(t, err)
	key := azcosmos.NewPartitionKeyString("acme").AppendString(bucket.EntityType)
	var newer azcosmos.PatchOperations
	newer.AppendSet("/newer", "of the bucket")
	newer.AppendSet("/entries/0/newer", "of the entry")
	newer.AppendSet("/entries/0/value/newer", "of the value")
	_, err = container.PatchItem(ctx, key, bucket.ID, newer, nil)
	must(t, err)

	_, err = under.Edit(ctx, ids[0], func(l *Line) error { l.Text = "edited"; return nil })
	must(t, err)
	must(t, under.Delete(ctx, ids[1]))
	_, err = under.Append(ctx, Line{Number: 3})
	must(t, err)

	stored, err := container.ReadItem(ctx, key, bucket.ID, nil)
	must(t, err)
	var doc struct {
		Newer   string `json:"newer"`
		Entries []struct {
			Newer string `json:"newer"`
			Value struct {
				Text  string `json:"text"`
				Newer string `json:"newer"`
			} `json:"value"`
		} `json:"entries"`
	}
	must(t, json.Unmarshal(stored.Value, &doc))
	if len(doc.Entries) != 3 || doc.Newer != "of the bucket" || doc.Entries[0].Newer != "of the entry" || doc.Entries[0].Value.Newer != "of the value" || doc.Entries[0].Value.Text != "edited" {
		t.Errorf("stored %s", stored.Value)
	}
}
