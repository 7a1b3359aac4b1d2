package tour

import (
	"context"
	"fmt"
	"slices"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// reference lists notes with their owners: the ids of a page are read at once.
func (a *app) reference(ctx context.Context) error {
	var people []*Person
	for i := range manyPeople {
		p := &Person{Name: fmt.Sprintf("Person %d", i)}
		if err := a.people.In(press).Create(ctx, p); err != nil {
			return err
		}
		people = append(people, p)
	}
	var notes []*Note
	for i := range manyNotes {
		notes = append(notes, &Note{Title: "shared", OwnerID: people[i%manyPeople].Ref()})
	}
	if _, err := a.notes.In(press).SaveAll(ctx, slices.Values(notes), nil); err != nil {
		return err
	}
	shared := repository.Where(repository.Eq("title", "shared"))
	names := func(names []string) string {
		slices.Sort(names)
		return fmt.Sprintf("%d notes of %d people", manyNotes, len(slices.Compact(names)))
	}
	return a.compare(ctx, "reference: 25 notes and their owners", ", the owners in one request (GetMany)",
		func(ctx context.Context) (string, error) {
			notes, err := all(a.notes.In(press).Query(ctx, shared))
			if err != nil {
				return "", err
			}
			var ids, found []string
			for _, n := range notes {
				ids = append(ids, n.OwnerID.String())
			}
			slices.Sort(ids)
			owners, err := a.people.In(press).GetMany(ctx, slices.Compact(ids)...)
			for _, p := range owners {
				found = append(found, p.Name)
			}
			return names(found), err
		},
		func(ctx context.Context) (string, error) {
			notes, err := all(a.notes.In(press).Query(ctx, shared))
			if err != nil {
				return "", err
			}
			var found []string
			for _, n := range notes {
				owner, err := a.people.In(press).Get(ctx, n.OwnerID.String())
				if err != nil {
					return "", err
				}
				found = append(found, owner.Name)
			}
			return names(found), nil
		})
}

// manyToMany reads an author's books: the ids are on both sides, so no joining
// table is asked.
func (a *app) manyToMany(ctx context.Context) error {
	ada := &Author{Name: "Ada"}
	if err := a.authors.In(press).Create(ctx, ada); err != nil {
		return err
	}
	var rows []*Row
	for i := range manyBooks {
		book := &Book{Title: fmt.Sprintf("Book %d", i+1), Authors: []tenantitem.Ref[Author]{ada.Ref()}}
		if err := a.books.In(press).Create(ctx, book); err != nil {
			return err
		}
		rows = append(rows, &Row{Table: "authorship", Of: ada.ID, To: book.ID})
	}
	if err := a.save(ctx, rows...); err != nil {
		return err
	}
	if err := a.keeper.CatchUp(ctx); err != nil {
		return err
	}
	return a.compare(ctx, "many-to-many: an author and her books", ", whose ids are on both sides",
		func(ctx context.Context) (string, error) {
			author, err := a.authors.In(press).Get(ctx, ada.ID)
			if err != nil {
				return "", err
			}
			var ids []string
			for _, ref := range author.Books {
				ids = append(ids, ref.String())
			}
			books, err := a.books.In(press).GetMany(ctx, ids...)
			return fmt.Sprintf("%d books", len(books)), err
		},
		func(ctx context.Context) (string, error) {
			if _, err := a.authors.In(press).Get(ctx, ada.ID); err != nil {
				return "", err
			}
			joining, err := all(a.rows.In(press).Query(ctx, table("authorship", ada.ID)))
			if err != nil {
				return "", err
			}
			for _, row := range joining {
				if _, err := a.books.In(press).Get(ctx, row.To); err != nil {
					return "", err
				}
			}
			return fmt.Sprintf("%d books", len(joining)), nil
		})
}
