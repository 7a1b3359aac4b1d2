package notes

import (
	"context"
	"errors"
	"testing"

	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
)

func TestNotes(t *testing.T) {
	var notes *repository.Repository[Note]
	account := emulatortest.FX(t, fx.Options(Data, fx.Populate(&notes)))
	ctx, acme := t.Context(), notes.In("acme")

	note := &Note{Title: "first", Tags: []string{"go"}}
	if err := acme.Create(ctx, note); err != nil {
		t.Fatal(err)
	}
	emulatortest.AssertPointRead(t, account, func(ctx context.Context) {
		got, err := acme.Get(ctx, note.ID)
		if err != nil || got.Title != "first" {
			t.Error(got, err)
		}
	})
	if _, err := notes.In("globex").Get(ctx, note.ID); !errors.Is(err, repository.ErrNotFound) {
		t.Error("another tenant sees it:", err)
	}
}
