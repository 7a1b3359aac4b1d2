package tour

import (
	"context"
	"slices"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/sample/internal/report"
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
	a.report.Patterns("Patterns", "as declared", "as table rows")
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
