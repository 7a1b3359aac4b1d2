package repository_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
)

// A client whose SDK may send a write twice is seen and refused, whatever the
// verb, before anything is written.
func TestWritesByAClientWithoutTheOptionsAreRefused(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it opens its container by name")
	b := setupNotes(t)
	n := &Note{Title: "x"}
	must(t, b.acme.Create(t.Context(), n))
	for name, write := range map[string]func(ctx context.Context, acme *repository.Scope[Note]) error{
		"Create":  func(ctx context.Context, acme *repository.Scope[Note]) error { return acme.Create(ctx, &Note{}) },
		"Replace": func(ctx context.Context, acme *repository.Scope[Note]) error { m := *n; return acme.Replace(ctx, &m) },
		"Upsert":  func(ctx context.Context, acme *repository.Scope[Note]) error { m := *n; return acme.Upsert(ctx, &m) },
		"Patch": func(ctx context.Context, acme *repository.Scope[Note]) error {
			_, err := acme.Patch(ctx, n.ID, repository.Increment("/count", 1))
			return err
		},
		"Mutate": func(ctx context.Context, acme *repository.Scope[Note]) error {
			_, err := acme.Mutate(ctx, n.ID, func(n *Note) error { n.Count++; return nil })
			return err
		},
		"Delete": func(ctx context.Context, acme *repository.Scope[Note]) error { return acme.Delete(ctx, n.ID, nil) },
		"Batch": func(ctx context.Context, acme *repository.Scope[Note]) error {
			return acme.Batch().Delete(n.ID, "").Commit(ctx)
		},
		"SaveAll": func(ctx context.Context, acme *repository.Scope[Note]) error {
			_, err := acme.SaveAll(ctx, slices.Values(notesFrom(3)), nil)
			return err
		},
		"DeleteAll": func(ctx context.Context, acme *repository.Scope[Note]) error {
			_, err := acme.DeleteAll(ctx, slices.Values([]string{n.ID}), nil)
			return err
		},
	} {
		acme := newRepository(t, plainContainer(t, b), repository.Config{}).In("acme")
		if err := write(t.Context(), acme); !errors.Is(err, repository.ErrInvalid) || !strings.Contains(err.Error(), "repository.ClientOptions") {
			t.Errorf("%s: %v", name, err)
		}
	}
	all := 0
	for got, err := range b.acme.Query(t.Context(), repository.All()) {
		must(t, err)
		if all++; got.ETag != n.ETag {
			t.Errorf("it was changed: %+v", got)
		}
	}
	if all != 1 {
		t.Errorf("%d documents", all)
	}
}

// plainContainer is the bundle's container through a client without Grove's options.
func plainContainer(t *testing.T, b *noteBundle) *azcosmos.ContainerClient {
	t.Helper()
	container, err := b.emulator.Client(&azcosmos.ClientOptions{}).NewContainer("db", "main")
	must(t, err)
	return container
}

// twice sends every write again, as the SDK does where another region may take
// it, and gives the second answer. The second copy does not leave the process.
type twice struct{}

func (twice) Do(req *policy.Request) (*http.Response, error) {
	if req.Raw().Method != http.MethodGet {
		first := req.Clone(req.Raw().Context())
		if _, err := first.Next(); err != nil {
			return nil, err
		}
		if err := req.RewindBody(); err != nil {
			return nil, err
		}
	}
	return req.Next()
}

func TestWritesThatTheClientSendsTwice(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it opens its container by name")
	b := setupNotes(t)
	var options azcosmos.ClientOptions
	options.PerRetryPolicies = []policy.Policy{twice{}}
	container, err := b.emulator.Client(repository.ClientOptions(&options)).NewContainer("db", "main")
	must(t, err)
	acme, ctx := newRepository(t, container, repository.Config{}).In("acme"), t.Context()
	n := &Note{Title: "x"}
	must(t, acme.Create(ctx, n))
	n.Title = "y"
	must(t, acme.Replace(ctx, n))
	got, err := acme.Mutate(ctx, n.ID, func(n *Note) error { n.Count++; return nil })
	must(t, err)
	if got.Count != 1 || got.Title != "y" {
		t.Errorf("got %+v", got)
	}
	receipt, err := acme.SaveAll(ctx, slices.Values(notesFrom(120)), nil)
	must(t, err)
	if receipt.Succeeded != 120 {
		t.Errorf("%d succeeded", receipt.Succeeded)
	}
	if err := acme.Delete(ctx, n.ID, nil); !errors.Is(err, repository.ErrAmbiguous) {
		t.Errorf("a delete, which leaves no mark: %v", err)
	}
}
