package notes

import (
	"testing"

	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

func TestComments(t *testing.T) {
	var (
		notes    *repository.Repository[Note]
		comments *parented.Repository[Comment, Note]
		keeper   *denorm.Keeper
	)
	emulatortest.FX(t, fx.Options(Data, Comments, fx.Populate(&notes, &comments, &keeper)))
	ctx, acme := t.Context(), notes.In("acme")

	note := &Note{Title: "first"}
	if err := acme.Create(ctx, note); err != nil {
		t.Fatal(err)
	}
	if err := comments.Under(note).Create(ctx, &Comment{Text: "well said"}); err != nil {
		t.Fatal(err)
	}
	if err := keeper.CatchUp(ctx); err != nil { // the count follows through the change feed
		t.Fatal(err)
	}
	got, err := acme.Get(ctx, note.ID)
	if err != nil || got.CommentCount != 1 {
		t.Fatal(got, err)
	}
	if err := acme.Delete(ctx, note.ID, nil); err != nil {
		t.Fatal(err)
	}
	if n, err := comments.Under(note).Count(ctx, repository.All()); n != 0 || err != nil {
		t.Error("comments are left:", n, err)
	}
}
