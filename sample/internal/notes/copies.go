package notes

import (
	"context"
	"fmt"

	"github.com/cosmosgrove/grove/sample/internal/report"
)

// copies shows what follows its source and what stays as it was. The changes
// are followed in the background; CatchUp waits until all of them are.
func (a *app) copies(ctx context.Context) error {
	a.report.Section("Copies that stay true")
	grace := &Person{FirstName: "Grace", LastName: "Hopper"}
	if err := a.people.In(acme).Create(ctx, grace); err != nil {
		return err
	}
	note := &Note{Title: "Compilers", OwnerID: grace.Ref()}
	err := a.report.Step(ctx, "a note of hers", "Create", report.Point, func(ctx context.Context) (string, error) {
		err := a.notes.In(acme).Create(ctx, note)
		return fmt.Sprintf("ownerName is %q, read from the person on write", note.OwnerName), err
	})
	if err != nil {
		return err
	}
	comment := &Comment{AuthorID: grace.Ref(), Body: "First."}
	if err := a.comments.Under(note).Create(ctx, comment); err != nil {
		return err
	}
	err = a.report.Step(ctx, "she takes another name", "Mutate", report.Point, func(ctx context.Context) (string, error) {
		_, err := a.people.In(acme).Mutate(ctx, grace.ID, func(p *Person) error { p.FirstName = "Amazing Grace"; return nil })
		return "nothing else is written here", err
	})
	if err != nil {
		return err
	}
	if err := a.keeper.CatchUp(ctx); err != nil {
		return err
	}
	return a.report.Step(ctx, "the note, once the feed was followed", "Get", report.Point, func(ctx context.Context) (string, error) {
		got, err := a.notes.In(acme).Get(ctx, note.ID)
		if err != nil {
			return "", err
		}
		said, err := a.comments.In(acme).Get(ctx, comment.ID)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("ownerName %q follows, commentCount is %d; the comment still says %q", got.OwnerName, got.CommentCount, said.AuthorName), nil
	})
}
