package tour

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/sample/internal/report"
)

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
	return a.compare(ctx, "snapshot: the prices of 25 orders", ", as paid; the product itself knows today's price",
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

// countAndRecent shows a note with what is known of its comments.
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
