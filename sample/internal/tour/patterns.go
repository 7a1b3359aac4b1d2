package tour

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/sample/internal/report"
	"github.com/cosmosgrove/grove/tenantitem"
)

// press is the tenant of the patterns.
const press = "press"

// How much there is of everything.
const (
	manyNotes, manyPeople      = 25, 5
	manyComments, manyMessages = 20, 100
	manyLines, manyBooks       = 5, 5
)

// patterns compares each pattern with a table of rows: what Grove declares and
// keeps, with what a relational model would do document by document.
func (a *app) patterns(ctx context.Context) error {
	a.report.Patterns("Patterns", "as declared", "a row a document")
	for _, pattern := range []func(context.Context) error{
		a.embed, a.child, a.reference, a.snapshot, a.synced, a.countAndRecent, a.bucket, a.manyToMany,
	} {
		if err := pattern(ctx); err != nil {
			return err
		}
	}
	return nil
}

// compare measures what the ways do themselves.
func (a *app) compare(ctx context.Context, title, note string, one, other report.Way) error {
	return a.report.Compare(ctx, title, note, func(ctx context.Context, way report.Way) (string, int64, float64, error) {
		ctx, tally := repository.WithTally(ctx)
		result, err := way(ctx)
		return result, tally.Requests(), tally.RequestUnits(), err
	}, one, other)
}

// table selects the rows that belong to one of another table.
func table(name, of string) repository.Query {
	return repository.Where(repository.Eq("table", name), repository.Eq("of", of)).OrderBy("number")
}

// save stores rows in bulk, numbered.
func (a *app) save(ctx context.Context, rows ...*Row) error {
	for i, row := range rows {
		row.Number = i + 1
	}
	_, err := a.rows.In(press).SaveAll(ctx, slices.Values(rows), nil)
	return err
}

// all reads a query to its end.
func all[T any](rows func(yield func(*T, error) bool)) ([]*T, error) {
	var out []*T
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, nil
}

func (a *app) embed(ctx context.Context) error {
	return a.compare(ctx, "embed: an order of 5 lines, to and fro", ", written and read with the order",
		func(ctx context.Context) (string, error) {
			order := &Order{}
			for i := range manyLines {
				order.Lines = append(order.Lines, Line{Article: fmt.Sprintf("article %d", i), Cents: 100})
			}
			if err := a.orders.In(press).Create(ctx, order); err != nil {
				return "", err
			}
			got, err := a.orders.In(press).Get(ctx, order.ID)
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%d lines", len(got.Lines)), nil
		},
		func(ctx context.Context) (string, error) {
			rows := a.rows.In(press)
			order := &Row{Table: "order"}
			if err := rows.Create(ctx, order); err != nil {
				return "", err
			}
			for i := range manyLines {
				if err := rows.Create(ctx, &Row{Table: "line", Of: order.ID, Number: i, Text: fmt.Sprintf("article %d", i)}); err != nil {
					return "", err
				}
			}
			if _, err := rows.Get(ctx, order.ID); err != nil {
				return "", err
			}
			lines, err := all(rows.Query(ctx, table("line", order.ID)))
			return fmt.Sprintf("%d lines", len(lines)), err
		})
}

// child deletes a note with its comments. Those as rows are found by a query
// and deleted one by one; a process that dies between leaves orphans.
func (a *app) child(ctx context.Context) error {
	note := &Note{Title: "to be deleted"}
	if err := a.notes.In(press).Create(ctx, note); err != nil {
		return err
	}
	rows := []*Row{}
	for i := range manyComments {
		if err := a.comments.Under(note).Create(ctx, &Comment{Number: i, Body: "Yes."}); err != nil {
			return err
		}
		rows = append(rows, &Row{Table: "comment", Of: note.ID, Text: "Yes."})
	}
	if err := a.save(ctx, append(rows, &Row{TenantItem: tenantitem.TenantItem[Row]{Meta: tenantitem.Meta{ID: note.ID}}, Table: "note"})...); err != nil {
		return err
	}
	return a.compare(ctx, "child: delete a note and 20 comments", ", also when the process dies halfway: its marks cost the difference in RU",
		func(ctx context.Context) (string, error) {
			return "all are gone", a.notes.In(press).Delete(ctx, note.ID, nil)
		},
		func(ctx context.Context) (string, error) {
			found, err := all(a.rows.In(press).Query(ctx, table("comment", note.ID)))
			if err != nil {
				return "", err
			}
			for _, row := range found {
				if err := a.rows.In(press).Delete(ctx, row.ID, nil); err != nil {
					return "", err
				}
			}
			return "all are gone", a.rows.In(press).Delete(ctx, note.ID, nil)
		})
}

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

// snapshot lists what orders cost when they were made. Without the copy the
// product's price is read, which is today's.
func (a *app) snapshot(ctx context.Context) error {
	product := &Product{Name: "Kettle", Cents: 4900}
	if err := a.products.In(press).Create(ctx, product); err != nil {
		return err
	}
	var orders []*Order
	for range manyNotes {
		orders = append(orders, &Order{ProductID: product.Ref()})
	}
	if _, err := a.orders.In(press).SaveAll(ctx, slices.Values(orders), nil); err != nil {
		return err
	}
	sold := repository.Where(repository.Eq("productId", product.ID))
	return a.compare(ctx, "snapshot: the prices of 25 orders", ", as paid; a row a document gives today's price",
		func(ctx context.Context) (string, error) {
			orders, err := all(a.orders.In(press).Query(ctx, sold))
			if err != nil {
				return "", err
			}
			sum := 0
			for _, o := range orders {
				sum += o.Cents
			}
			return fmt.Sprintf("%d cents in all", sum), nil
		},
		func(ctx context.Context) (string, error) {
			orders, err := all(a.orders.In(press).Query(ctx, sold))
			if err != nil {
				return "", err
			}
			sum := 0
			for _, o := range orders {
				p, err := a.products.In(press).Get(ctx, o.ProductID.String())
				if err != nil {
					return "", err
				}
				sum += p.Cents
			}
			return fmt.Sprintf("%d cents in all", sum), nil
		})
}

// synced renames the owner of many notes. The followers of changes work in the
// background, so what the whole client sends is counted; reading the name with
// a note costs nothing more from then on.
func (a *app) synced(ctx context.Context) error {
	grace := &Person{Name: "Grace"}
	if err := a.people.In(press).Create(ctx, grace); err != nil {
		return err
	}
	var notes []*Note
	var rows []*Row
	for range manyNotes {
		notes = append(notes, &Note{Title: "hers", OwnerID: grace.Ref()})
		rows = append(rows, &Row{Table: "note", Of: grace.ID, Text: grace.Name})
	}
	if _, err := a.notes.In(press).SaveAll(ctx, slices.Values(notes), nil); err != nil {
		return err
	}
	if err := a.save(ctx, rows...); err != nil {
		return err
	}
	if err := a.keeper.CatchUp(ctx); err != nil {
		return err
	}
	everything := func(ctx context.Context, way report.Way) (string, int64, float64, error) {
		requests, units := a.meter.Read()
		result, err := way(ctx)
		nowRequests, nowUnits := a.meter.Read()
		return result, nowRequests - requests, nowUnits - units, err
	}
	return a.report.Compare(ctx, "synced copy: rename an owner of 25 notes", ", each on the condition that it is still the one looked at; the background's reading of the feed is counted here", everything,
		func(ctx context.Context) (string, error) {
			_, err := a.people.In(press).Mutate(ctx, grace.ID, func(p *Person) error { p.Name = "Amazing Grace"; return nil })
			if err != nil {
				return "", err
			}
			if err := a.keeper.CatchUp(ctx); err != nil {
				return "", err
			}
			n, err := a.notes.In(press).Count(ctx, repository.Where(repository.Eq("ownerName", "Amazing Grace")))
			return fmt.Sprintf("%d notes follow", n), err
		},
		func(ctx context.Context) (string, error) {
			if _, err := a.people.In(press).Mutate(ctx, grace.ID, func(*Person) error { return nil }); err != nil {
				return "", err
			}
			found, err := all(a.rows.In(press).Query(ctx, table("note", grace.ID)))
			if err != nil {
				return "", err
			}
			for _, row := range found {
				if _, err := a.rows.In(press).Patch(ctx, row.ID, repository.Set("/text", "Amazing Grace")); err != nil {
					return "", err
				}
			}
			n, err := a.rows.In(press).Count(ctx, repository.Where(repository.Eq("text", "Amazing Grace")))
			return fmt.Sprintf("%d notes follow", n), err
		})
}

func (a *app) countAndRecent(ctx context.Context) error {
	note := &Note{Title: "with comments"}
	if err := a.notes.In(press).Create(ctx, note); err != nil {
		return err
	}
	for i := range manyComments {
		if err := a.comments.Under(note).Create(ctx, &Comment{Number: i, Body: fmt.Sprintf("comment %d", i+1)}); err != nil {
			return err
		}
	}
	if err := a.keeper.CatchUp(ctx); err != nil {
		return err
	}
	err := a.compare(ctx, "count: a note and how many comments", ", counted in the note",
		func(ctx context.Context) (string, error) {
			n, err := a.notes.In(press).Get(ctx, note.ID)
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%d comments", n.CommentCount), nil
		},
		func(ctx context.Context) (string, error) {
			if _, err := a.notes.In(press).Get(ctx, note.ID); err != nil {
				return "", err
			}
			n, err := a.comments.Under(note).Count(ctx, repository.All())
			return fmt.Sprintf("%d comments", n), err
		})
	if err != nil {
		return err
	}
	return a.compare(ctx, "recent: a note and its newest 3 comments", ", kept in the note",
		func(ctx context.Context) (string, error) {
			n, err := a.notes.In(press).Get(ctx, note.ID)
			if err != nil {
				return "", err
			}
			var bodies []string
			for _, card := range n.NewestComments {
				bodies = append(bodies, card.Body)
			}
			return strings.Join(bodies, ", "), nil
		},
		func(ctx context.Context) (string, error) {
			if _, err := a.notes.In(press).Get(ctx, note.ID); err != nil {
				return "", err
			}
			found, err := all(a.comments.Under(note).Query(ctx, repository.All().OrderByDesc("number").Limit(3)))
			var bodies []string
			for _, c := range found {
				bodies = append(bodies, c.Body)
			}
			return strings.Join(bodies, ", "), err
		})
}

// bucket reads what was said under a note.
func (a *app) bucket(ctx context.Context) error {
	note := &Note{Title: "a conversation"}
	if err := a.notes.In(press).Create(ctx, note); err != nil {
		return err
	}
	var rows []*Row
	for i := range manyMessages {
		text := fmt.Sprintf("message %d", i+1)
		if _, err := a.messages.Under(note).Append(ctx, Message{Text: text}); err != nil {
			return err
		}
		rows = append(rows, &Row{Table: "message", Of: note.ID, Text: text})
	}
	if err := a.save(ctx, rows...); err != nil {
		return err
	}
	return a.compare(ctx, "bucket: read 100 messages", ", 100 to a document",
		func(ctx context.Context) (string, error) {
			entries, err := all(a.messages.Under(note).OldestFirst(ctx))
			return fmt.Sprintf("%d messages", len(entries)), err
		},
		func(ctx context.Context) (string, error) {
			found, err := all(a.rows.In(press).Query(ctx, table("message", note.ID)))
			return fmt.Sprintf("%d messages", len(found)), err
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
