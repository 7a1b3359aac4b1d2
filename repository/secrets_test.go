package repository_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/repository"
)

// An error printed as JSON or by a logger says what its text says: not the
// service's answer, no URL, no document.
func TestErrorsPrintNoMoreThanTheirText(t *testing.T) {
	t.Parallel()
	b, ctx := setupNotes(t), t.Context()
	n := &Note{Title: "a private title"}
	must(t, b.acme.Create(ctx, n))
	stale := *n
	n.Title = "another private title"
	must(t, b.acme.Replace(ctx, n))
	conflict := b.acme.Replace(ctx, &stale)
	_, missing := b.acme.Get(ctx, "missing")
	taken := b.acme.Create(ctx, &Note{TenantItem: n.TenantItem})
	batch := b.acme.Batch().Delete("missing", "").Commit(ctx)
	for name, err := range map[string]error{"conflict": conflict, "missing": missing, "taken": taken, "batch": batch} {
		var typed *repository.Error
		if !errors.As(err, &typed) {
			t.Fatalf("%s: %v", name, err)
		}
		var logged bytes.Buffer
		for _, h := range []slog.Handler{slog.NewTextHandler(&logged, nil), slog.NewJSONHandler(&logged, nil)} {
			slog.New(h).Error("failed", "err", err, "typed", typed)
		}
		text, marshalErr := json.Marshal(err)
		must(t, marshalErr)
		inner, marshalErr := json.Marshal(typed)
		must(t, marshalErr)
		all := string(text) + string(inner) + logged.String()
		if !json.Valid(text) || !strings.Contains(all, "Note") {
			t.Errorf("%s: %s", name, all)
		}
		for _, leak := range []string{"private title", "http://", "https://", "x-ms-", "ActivityId", "Errors"} {
			if strings.Contains(all, leak) {
				t.Errorf("%s prints %q: %s", name, leak, all)
			}
		}
	}
}

// Names of parameters are compared as the service compares them, without case.
func TestTheNamesOfParametersThatAreTaken(t *testing.T) {
	t.Parallel()
	b := setupNotes(t)
	for _, name := range []string{"p0", "P0", "p17", "P17"} {
		if _, err := b.acme.First(t.Context(), repository.SQL("c.title = @"+name, repository.P(name, "x"))); !errors.Is(err, repository.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
