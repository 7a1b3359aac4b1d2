package tour

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/sample/internal/report"
)

// The two tenants of the sample.
const (
	acme   = "acme"
	globex = "globex"
)

func (a *app) write(ctx context.Context) error {
	a.report.Section("Writing")
	ada := &Person{Name: "Ada"}
	err := a.report.Step(ctx, "create a person", "Create", report.Point, func(ctx context.Context) (string, error) {
		return "the id, tenant, type and etag are filled in", a.people.In(acme).Create(ctx, ada)
	})
	if err != nil {
		return err
	}
	all := make([]*Note, 120)
	for i := range all {
		all[i] = &Note{Title: fmt.Sprintf("Note %03d", i), Tags: []string{[]string{"go", "cosmos", "garden"}[i%3]}, OwnerID: ada.Ref(), Stars: i % 5}
	}
	err = a.report.Step(ctx, "save 120 notes in bulk", "SaveAll", report.OnePartition, func(ctx context.Context) (string, error) {
		receipt, err := a.notes.In(acme).SaveAll(ctx, slices.Values(all), nil)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%d saved, %d failed: a batch of 100 and one of 20, and a receipt for each note", receipt.Succeeded, receipt.Failed), nil
	})
	if err != nil {
		return err
	}
	return a.report.Step(ctx, "two notes, both or none", "Batch", report.OnePartition, func(ctx context.Context) (string, error) {
		one, other := &Note{Title: "Plan A"}, &Note{Title: "Plan B"}
		return "one transaction", a.notes.In(acme).Batch().Create(one).Create(other).Commit(ctx)
	})
}

func (a *app) read(ctx context.Context) error {
	a.report.Section("Reading")
	notes := a.notes.In(acme)
	var ids []string
	err := a.report.Step(ctx, "the best notes about Go, by title", "Query", report.OnePartition, func(ctx context.Context) (string, error) {
		q := repository.Where(repository.Contains("tags", "go"), repository.Gte("stars", 4)).OrderBy("title").Limit(5)
		var titles []string
		for n, err := range notes.Query(ctx, q) {
			if err != nil {
				return "", err
			}
			titles, ids = append(titles, n.Title), append(ids, n.ID)
		}
		return strings.Join(titles, ", "), nil
	})
	if err != nil {
		return err
	}
	err = a.report.Step(ctx, "one of them by its id", "Get", report.Point, func(ctx context.Context) (string, error) {
		n, err := notes.Get(ctx, ids[0])
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%s, %d stars, tagged %s", n.Title, n.Stars, strings.Join(n.Tags, ", ")), nil
	})
	if err != nil {
		return err
	}
	err = a.report.Step(ctx, "all five by their ids", "GetMany", report.OnePartition, func(ctx context.Context) (string, error) {
		many, err := notes.GetMany(ctx, ids...)
		return fmt.Sprintf("%d notes in the order that was asked for", len(many)), err
	})
	if err != nil {
		return err
	}
	return a.report.Step(ctx, "the first two pages of 25", "Page", report.OnePartition, func(ctx context.Context) (string, error) {
		var ends []string
		for cursor := ""; len(ends) < 2; {
			page, err := notes.Page(ctx, repository.All().OrderBy("title"), repository.PageOptions{Size: 25, Cursor: cursor})
			if err != nil {
				return "", err
			}
			ends = append(ends, fmt.Sprintf("%s to %s", page.Items[0].Title, page.Items[len(page.Items)-1].Title))
			if cursor = page.Cursor; cursor == "" {
				break
			}
		}
		return strings.Join(ends, "; ") + "; the cursor is signed and fits a URL", nil
	})
}

func (a *app) disagree(ctx context.Context) error {
	a.report.Section("Two writers, one note")
	notes := a.notes.In(acme)
	mine := &Note{Title: "Draft"}
	if err := notes.Create(ctx, mine); err != nil {
		return err
	}
	stale := *mine
	err := a.report.Step(ctx, "I change it", "Save", report.Point, func(ctx context.Context) (string, error) {
		mine.Title = "Final"
		return "the etag that I had read was still true", notes.Save(ctx, mine)
	})
	if err != nil {
		return err
	}
	err = a.report.Step(ctx, "you change what you read before", "Save", report.Point, func(ctx context.Context) (string, error) {
		stale.Title = "Draft, with a comma"
		err := notes.Save(ctx, &stale)
		var conflict *repository.ConflictError[Note]
		if !errors.As(err, &conflict) {
			return refused(err, repository.ErrPreconditionFailed)
		}
		return "", report.Refused(fmt.Sprintf("%v: the error carries what is there now, %q", repository.ErrPreconditionFailed, conflict.Current.Title))
	})
	if err != nil {
		return err
	}
	err = a.report.Step(ctx, "you try again, the safe way", "Mutate", report.Point, func(ctx context.Context) (string, error) {
		n, err := notes.Mutate(ctx, mine.ID, func(n *Note) error { n.Stars++; return nil })
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%q with %d star", n.Title, n.Stars), nil
	})
	if err != nil {
		return err
	}
	return a.report.Step(ctx, "a star more, if it is still final", "Patch", report.Point, func(ctx context.Context) (string, error) {
		n, err := notes.Patch(ctx, mine.ID, repository.Increment("/stars", 1).If(repository.Eq("title", "Final")))
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%d stars; only the change was sent", n.Stars), nil
	})
}

func (a *app) checkTenants(ctx context.Context) error {
	a.report.Section("Two tenants")
	secret := &Note{Title: "Merger"}
	if err := a.notes.In(acme).Create(ctx, secret); err != nil {
		return err
	}
	err := a.report.Step(ctx, "another tenant asks for Acme's note", "Get", report.Point, func(ctx context.Context) (string, error) {
		_, err := a.notes.In(globex).Get(ctx, secret.ID)
		return refused(err, repository.ErrNotFound)
	})
	if err != nil {
		return err
	}
	err = a.report.Step(ctx, "and tries to save it", "Save", report.Point, func(ctx context.Context) (string, error) {
		return refused(a.notes.In(globex).Save(ctx, secret), repository.ErrTenantMismatch)
	})
	if err != nil {
		return err
	}
	return a.report.Step(ctx, "code that forgot the tenant", "Get", report.Point, func(ctx context.Context) (string, error) {
		_, err := a.notes.In(acme).Get(repository.WithTenant(ctx, globex), secret.ID)
		return refused(err, repository.ErrTenantMismatch)
	})
}

// refused expects an error and names it.
func refused(err, want error) (string, error) {
	switch {
	case err == nil:
		return "", fmt.Errorf("it was not refused as %q", want.Error())
	case !errors.Is(err, want):
		return "", err
	}
	return "", report.Refused(want.Error())
}

func (a *app) look(ctx context.Context) error {
	a.report.Section("A container with a key of its own")
	err := a.report.Step(ctx, "Acme's colours", "Query", report.OnePartition, func(ctx context.Context) (string, error) {
		return labels(a.lookups.In(acme, "color").Query(ctx, repository.All().OrderBy("rank").Limit(3)))
	})
	if err != nil {
		return err
	}
	err = a.report.Step(ctx, "all of Acme's lists, by a prefix", "Count", report.Tenant, func(ctx context.Context) (string, error) {
		n, err := a.lookups.In(acme).Count(ctx, repository.All())
		return fmt.Sprintf("%d values", n), err
	})
	if err != nil {
		return err
	}
	return a.report.Step(ctx, "everybody's, only by this name", "Count", report.AllTenants, func(ctx context.Context) (string, error) {
		n, err := a.lookups.AllTenants().Count(ctx, repository.All())
		return fmt.Sprintf("%d values; AllTenants() can't write", n), err
	})
}

func labels(values func(yield func(*LookupValue, error) bool)) (string, error) {
	var out []string
	for v, err := range values {
		if err != nil {
			return "", err
		}
		out = append(out, v.Label)
	}
	return strings.Join(out, ", "), nil
}

// prepareLookups stores what look reads. Its first query across partitions
// learns how the container is laid out, once in a process: without it, that
// would be in the cost of the first such step.
func (a *app) prepareLookups(ctx context.Context) error {
	values := []*LookupValue{
		{LookupType: "color", Label: "red", Rank: 2}, {LookupType: "color", Label: "green", Rank: 1},
		{LookupType: "size", Label: "small", Rank: 1},
	}
	for _, tenant := range []string{acme, globex} {
		for _, v := range values {
			fresh := *v
			if err := a.lookups.In(tenant, v.LookupType).Create(ctx, &fresh); err != nil {
				return err
			}
		}
	}
	_, err := a.lookups.AllTenants().Count(ctx, repository.All())
	return err
}
