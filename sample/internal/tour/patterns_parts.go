package tour

import (
	"context"
	"fmt"

	"github.com/cosmosgrove/grove/tenantitem"
)

// embed keeps the lines of an order in the order.
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
