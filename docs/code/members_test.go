package code

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/internal/document"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

type Writer struct {
	tenantitem.TenantItem[Writer]
	Name   string                 `json:"name"`
	Books  []tenantitem.Ref[Tome] `json:"books"`
	Count  int                    `json:"count"`
	Newest []ReplyCard            `json:"newest"`
}

type Tome struct {
	tenantitem.TenantItem[Tome]
	Text       string                   `json:"text"`
	Writers    []tenantitem.Ref[Writer] `json:"writers"`
	EditorID   tenantitem.Ref[Writer]   `json:"editorId"`
	EditorName string                   `json:"editorName" denorm:"sync,ref=editorId,field=name"`
	FirstName  string                   `json:"firstName" denorm:"snapshot,ref=editorId,field=name"`
}

type Chapter struct {
	parented.ParentedItem[Chapter, Tome]
	Heading string `json:"heading"`
}

// What all features leave in documents is the service's, the struct's, or stands in docs/members.md.
func TestNoOtherMemberIsWritten(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it looks at every document of a database of its own")
	var (
		client   *azcosmos.Client
		writers  *repository.Repository[Writer]
		tomes    *repository.Repository[Tome]
		chapters *parented.Repository[Chapter, Tome]
		marks    *parented.Buckets[Mark, Tome]
		keeper   *denorm.Keeper
	)
	e := emulatortest.FX(t, fx.Options(
		registry.Module(registry.Config{
			Database:  "library",
			Provision: true,
			Upkeep:    -1, // it could finish the move that is interrupted here
		}),
		registry.Entity[Writer](registry.SoftDelete(time.Hour)),
		registry.Entity[Tome](registry.SoftDelete(time.Hour)),
		registry.Child[Chapter, Tome](parented.Cascade),
		registry.Buckets[Mark, Tome](parented.Cascade),
		denorm.Module,
		denorm.Count[Writer, Tome]("count", "editorId"),
		denorm.Recent[Writer, Tome]("newest", 2, "editorId"),
		denorm.Link[Writer, Tome]("books", "writers"),
		fx.Populate(&client, &writers, &tomes, &chapters, &marks, &keeper),
	), emulatortest.Calm()) // the second of its batches is refused
	container, err := client.NewContainer("library", registry.DefaultContainer)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	ours := []string{"id", "_etag", "_ts", "name", "books", "count", "newest", "text", "writers", "editorId", "editorName", "firstName", "heading"}
	ours = append(ours, document.SystemMembers()...)
	for _, m := range document.Members() {
		ours = append(ours, m.Name)
	}
	look := func() {
		t.Helper()
		pager := container.NewQueryItemsPager("SELECT * FROM c", azcosmos.NewPartitionKey(), nil)
		for pager.More() {
			page, err := pager.NextPage(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, item := range page.Items {
				var doc map[string]json.RawMessage
				if err := json.Unmarshal(item, &doc); err != nil {
					t.Fatal(err)
				}
				for name := range doc {
					found[name] = true
					if !slices.Contains(ours, name) {
						t.Errorf("a member %q, which docs/members.md does not have", name)
					}
				}
			}
		}
	}
	ctx := t.Context()
	w, other := &Writer{Name: "Ada"}, &Writer{Name: "Grace"}
	tome, next, one := &Tome{Text: "first"}, &Tome{Text: "next"}, &Chapter{Heading: "one"}
	steps := []func() error{
		func() error { return writers.In("acme").Create(ctx, w) },
		func() error { return writers.In("acme").Create(ctx, other) },
		func() error {
			tome.EditorID, tome.Writers = w.Ref(), []tenantitem.Ref[Writer]{other.Ref()}
			return tomes.In("acme").Create(ctx, tome)
		},
		func() error { return chapters.Under(tome).Create(ctx, one) },
		func() error { return tomes.In("acme").Create(ctx, next) },
		func() error { return keeper.CatchUp(ctx) }, // its batches are not those that the next step counts
		func() error {
			// The write that ends the move is refused.
			e.Fault(emulator.Answer(http.StatusForbidden, 0).On(emulator.TransactionalBatch).Nth(2))
			if err := chapters.Move(ctx, "acme", one.ID, next.Ref()); !errors.Is(err, repository.ErrAmbiguous) {
				return fmt.Errorf("the move returned %w", err)
			}
			return nil
		},
		func() error { return chapters.Move(ctx, "acme", one.ID, tome.Ref()) },
		func() error { _, err := marks.Under(tome).Append(ctx, Mark{Page: 1}); return err },
		func() error {
			_, err := tomes.In("acme").Mutate(ctx, tome.ID, func(t *Tome) error { t.EditorID = other.Ref(); return nil })
			return err
		},
		func() error {
			_, err := tomes.In("acme").Patch(ctx, tome.ID, repository.Set("/text", "second"))
			return err
		},
		func() error { return keeper.CatchUp(ctx) },
		func() error { return tomes.In("acme").Delete(ctx, tome.ID, nil) },
		func() error { return tomes.In("acme").Restore(ctx, tome.ID) },
		func() error { return keeper.CatchUp(ctx) },
	}
	for i, step := range steps {
		if err := step(); err != nil {
			t.Fatal(i, err)
		}
		look()
	}
	for _, m := range document.Members() {
		if !found[m.Name] {
			t.Errorf("%s was never written: is its row true?", m.Name)
		}
	}
}
