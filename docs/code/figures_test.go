package code

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
)

// What docs/cost.md says that one operation costs.
func TestWhatOneOperationCosts(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "the page's figures are the modelled charges")
	s := setupOn(t, []emulatortest.Option{emulatortest.Calm()}) // its requests are counted
	acme := s.notes.In("acme")
	tags := []string{"go", "azure", "notes"}
	long := Address{Street: strings.Repeat("a street of some length ", 14), City: "Bonn"}
	var ids []string
	var many []*Note
	for i := range 1000 {
		n := &Note{Title: fmt.Sprintf("note %03d", i), Stars: i % 10, Tags: tags, Address: long}
		n.ID = fmt.Sprintf("note-%04d", i)
		ids, many = append(ids, n.ID), append(many, n)
	}
	if _, err := acme.SaveAll(t.Context(), slices.Values(many), nil); err != nil {
		t.Fatal(err)
	}
	read, err := acme.Get(t.Context(), ids[0])
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../cost.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, operation := range []struct {
		row string
		do  func(ctx context.Context) error
	}{
		{"read by id", func(ctx context.Context) error { _, err := acme.Get(ctx, ids[1]); return err }},
		{"read 25 by their ids", func(ctx context.Context) error { _, err := acme.GetMany(ctx, ids[:25]...); return err }},
		{"create", func(ctx context.Context) error {
			return acme.Create(ctx, &Note{Title: "new", Tags: tags, Address: long})
		}},
		{"replace, with the etag that was read", func(ctx context.Context) error { return acme.Replace(ctx, read) }},
		{"patch a number", func(ctx context.Context) error {
			_, err := acme.Patch(ctx, ids[2], repository.Set("/stars", 3))
			return err
		}},
		{"delete", func(ctx context.Context) error { return s.people.In("acme").Delete(ctx, person(t, s), nil) }},
		{"a page of 25 of 1,000, one condition", func(ctx context.Context) error {
			_, err := acme.Page(ctx, repository.Where(repository.Gt("stars", 3)), repository.PageOptions{Size: 25})
			return err
		}},
		{"create a child under its parent", func(ctx context.Context) error {
			return s.comments.Under(read).Create(ctx, &Comment{Body: "first"})
		}},
	} {
		ctx, tally := repository.WithTally(t.Context())
		if err := operation.do(ctx); err != nil {
			t.Fatal(operation.row, err)
		}
		want := fmt.Sprintf("| %s | %d | %.1f |\n", operation.row, tally.Requests(), tally.RequestUnits())
		if !strings.Contains(string(page), want) {
			row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(operation.row) + ` \|.*\n`).FindString(string(page))
			t.Errorf("docs/cost.md says %q, it is %q", row, want)
		}
	}
}

// person makes a document of its own to be deleted, outside of what is counted.
func person(t *testing.T, s *service) string {
	t.Helper()
	p := &Person{FirstName: "Ada"}
	if err := s.people.In("acme").Create(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	return p.ID
}

// The limits of docs/limits.md that are checked before a request.
func TestLimitsOfThePage(t *testing.T) {
	t.Parallel()
	s := setup(t)
	acme := s.notes.In("acme")
	named := func(id string) *Note {
		n := &Note{}
		n.ID = id
		return n
	}
	batch := func(n int) error {
		b := acme.Batch()
		for range n {
			b = b.Create(&Note{})
		}
		return b.Commit(t.Context())
	}
	eleven := repository.Set("/title", "x")
	for range 10 {
		eleven = eleven.Set("/stars", 1)
	}
	ttl := 0
	expired := &Note{}
	expired.TTL = &ttl
	for name, do := range map[string]func(ctx context.Context) error{
		"id of 1,024 bytes":          func(ctx context.Context) error { return acme.Create(ctx, named(strings.Repeat("i", 1024))) },
		"id with a slash":            func(ctx context.Context) error { return acme.Create(ctx, named("a/b")) },
		"id with a space at the end": func(ctx context.Context) error { return acme.Create(ctx, named("a ")) },
		"tenant beyond U+FFFF":       func(ctx context.Context) error { return s.notes.In("\U0001F600").Create(ctx, &Note{}) },
		"tenant of 2,049 bytes":      func(ctx context.Context) error { return s.notes.In(strings.Repeat("t", 2049)).Create(ctx, &Note{}) },
		"document of 2 MB":           func(ctx context.Context) error { return acme.Create(ctx, &Note{Title: strings.Repeat("x", 2<<20)}) },
		"batch of 101":               func(context.Context) error { return batch(101) },
		"patch of 11 operations":     func(ctx context.Context) error { _, err := acme.Patch(ctx, "x", eleven); return err },
		"ttl of 0":                   func(ctx context.Context) error { return acme.Create(ctx, expired) },
		"integer beyond doubles":     func(ctx context.Context) error { return acme.Create(ctx, &Note{Stars: 1 << 53}) },
		"page of more than 1,000": func(ctx context.Context) error {
			_, err := acme.Page(ctx, repository.All(), repository.PageOptions{Size: 1001})
			return err
		},
	} {
		ctx, tally := repository.WithTally(t.Context())
		err := do(ctx)
		if !errors.Is(err, repository.ErrInvalid) && !errors.Is(err, repository.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
		if tally.Requests() != 0 {
			t.Errorf("%s: %d requests", name, tally.Requests())
		}
	}
	if err := batch(100); err != nil {
		t.Error(err)
	}
}

// What docs/limits.md says of a delete of many children.
func TestTenThousandChildren(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "requests are counted")
	s := setupOn(t, []emulatortest.Option{emulatortest.Calm()})
	acme := s.notes.In("acme")
	n := note(t, acme, "with many comments", 1)
	_, err := s.comments.In("acme").SaveAll(t.Context(), func(yield func(*Comment) bool) {
		for range 10_000 {
			c := &Comment{}
			c.ParentID = n.Ref()
			if !yield(c) {
				return
			}
		}
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, tally := repository.WithTally(t.Context())
	if err := acme.Delete(ctx, n.ID, nil); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../limits.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("(%d in all for 10,000 children", tally.Requests()); !strings.Contains(string(page), want) {
		t.Errorf("docs/limits.md does not say %q", want)
	}
}

// The worked example of docs/cost.md follows from its first table.
func TestTheWorkedExample(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../cost.md")
	if err != nil {
		t.Fatal(err)
	}
	page, day := string(text), 0.0
	for _, line := range []struct {
		name, operation string
		times           float64
	}{
		{"lists", "a page of 25 of 1,000, one condition", 10_000 * 30},
		{"reads", "read by id", 10_000 * 40},
		{"writes", "replace, with the etag that was read", 10_000 * 5},
		{"comments", "create a child under its parent", 10_000 * 5},
	} {
		row := regexp.MustCompile(`\| ` + regexp.QuoteMeta(line.operation) + ` \| \d+ \| ([\d.]+) \|`).FindStringSubmatch(page)
		if row == nil {
			t.Fatal(line.operation)
		}
		var each float64
		if _, err := fmt.Sscan(row[1], &each); err != nil {
			t.Fatal(err)
		}
		day += each * line.times
		if want := fmt.Sprintf("| %s | %s | %.1f | %s |", line.name, thousands(line.times), each, thousands(each*line.times)); !strings.Contains(page, want) {
			t.Errorf("docs/cost.md does not say %q", want)
		}
	}
	for _, want := range []string{
		"**" + thousands(day) + "**",
		fmt.Sprintf("that is %.0f million RU", day*30/1e6),
		fmt.Sprintf("Spread over the day it is %.0f RU/s", day/86_400),
		fmt.Sprintf("busiest hour, %.0f RU/s there", day/5/3600),
	} {
		if !strings.Contains(page, want) {
			t.Errorf("docs/cost.md does not say %q", want)
		}
	}
}

// thousands writes a whole number with commas.
func thousands(f float64) string {
	digits := fmt.Sprintf("%.0f", f)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
