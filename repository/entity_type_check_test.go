package repository_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Customer and Order share a logical partition, and ids are unique in it.
type Customer struct {
	tenantitem.TenantItem[Customer]
	CustomerID string `json:"customerId"`
	Name       string `json:"name"`
	Count      int    `json:"count"`
}

type Order struct {
	tenantitem.TenantItem[Order]
	CustomerID string `json:"customerId"`
	Count      int    `json:"count"`
	Lines      []Line `json:"lines,omitempty"`
}

type Line struct {
	ProductID string `json:"productId"`
}

// No verb of one entity type touches a document of another, although both lie in
// one logical partition and the id leads there.
func TestEntityTypesThatShareAPartitionNeverMeet(t *testing.T) {
	t.Parallel()
	type orders = *repository.Scope[Order]
	verbs := map[string]func(ctx context.Context, s orders, id string) error{
		"Get":    func(ctx context.Context, s orders, id string) error { _, err := s.Get(ctx, id); return err },
		"Exists": func(ctx context.Context, s orders, id string) error { _, err := s.Exists(ctx, id); return err },
		"Create": func(ctx context.Context, s orders, id string) error { return s.Create(ctx, orderOf(id)) },
		"Mutate": func(ctx context.Context, s orders, id string) error {
			_, err := s.Mutate(ctx, id, func(o *Order) error { o.Count++; return nil })
			return err
		},
		"Patch": func(ctx context.Context, s orders, id string) error {
			_, err := s.Patch(ctx, id, repository.Set("/count", 9))
			return err
		},
		"Delete": func(ctx context.Context, s orders, id string) error { return s.Delete(ctx, id, nil) },
		"DeleteAll": func(ctx context.Context, s orders, id string) error {
			other := orderOf("o1")
			if err := s.Create(ctx, other); err != nil {
				return err
			}
			receipt, err := s.DeleteAll(ctx, slices.Values([]string{other.ID, id}), nil)
			if receipt.Items[0].Status != repository.Succeeded || receipt.Items[1].Status != repository.Failed {
				return errors.New("the receipt is not true")
			}
			return err
		},
		"Batch.Patch": func(ctx context.Context, s orders, id string) error {
			return s.Batch().Patch(id, repository.Increment("/count", 1)).Commit(ctx)
		},
		"Batch.Delete": func(ctx context.Context, s orders, id string) error {
			return s.Batch().Create(orderOf("o2")).Delete(id, "").Commit(ctx)
		},
	}
	for name, do := range verbs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, ctx := emulatortest.New(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil))), t.Context()
			container := newContainer(t, e.Client(nil), "/tenantId", "/customerId")
			cfg := repository.Config{PartitionKey: []string{"/tenantId", "/customerId"}}
			customers, err := repository.New[Customer](container, cfg)
			must(t, err)
			all, err := repository.New[Order](container, cfg)
			must(t, err)
			c := &Customer{Name: "kept"}
			must(t, customers.In("acme", "c1").Create(ctx, c))
			err = do(ctx, all.In("acme", "c1"), c.ID)
			if err == nil {
				t.Error("it succeeded")
			}
			t.Log(err)
			got, err := customers.In("acme", "c1").Get(ctx, c.ID)
			must(t, err)
			if got.ETag != c.ETag {
				t.Errorf("the other entity type's document was changed: %+v", got)
			}
		})
	}
}

// A way through an array is no member's name: a comparison with it would find
// nothing, in silence.
func TestFieldsInsideArraysAreRefusedInQueries(t *testing.T) {
	t.Parallel()
	e, ctx := emulatortest.New(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil))), t.Context()
	container := newContainer(t, e.Client(nil), "/tenantId", "/customerId")
	orders, err := repository.New[Order](container, repository.Config{PartitionKey: []string{"/tenantId", "/customerId"}})
	must(t, err)
	s := orders.In("acme", "c1")
	for name, q := range map[string]repository.Query{
		"Where":   repository.Where(repository.Eq("lines[].productId", "p1")),
		"OrderBy": repository.All().OrderBy("lines[].productId"),
	} {
		if _, err := s.First(ctx, q); !errors.Is(err, repository.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, s.Create(ctx, &Order{Lines: []Line{{ProductID: "p1"}}}))
	n, err := s.Count(ctx, repository.SQL("EXISTS (SELECT VALUE l FROM l IN c.lines WHERE l.productId = @id)", repository.P("id", "p1")))
	if must(t, err); n != 1 {
		t.Errorf("the way that the error names finds %d", n)
	}
}

func TestKeysThatAreTooLongTogetherAreRefused(t *testing.T) {
	t.Parallel()
	e, ctx := emulatortest.New(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil))), t.Context()
	container := newContainer(t, e.Client(nil), "/tenantId", "/customerId")
	orders, err := repository.New[Order](container, repository.Config{PartitionKey: []string{"/tenantId", "/customerId"}})
	must(t, err)
	tenant := strings.Repeat("t", 1000)
	must(t, orders.In(tenant, strings.Repeat("c", 1048)).Create(ctx, &Order{}))
	mark := e.Requests().Mark()
	if err := orders.In(tenant, strings.Repeat("c", 1049)).Create(ctx, &Order{}); !errors.Is(err, repository.ErrInvalid) {
		t.Errorf("got %v", err)
	}
	if n := len(e.Requests().Since(mark)); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// The batch is applied by the time that a document turns out not to belong
// here: the others keep what they learned.
func TestAReadOfAnotherEntityTypeInABatch(t *testing.T) {
	t.Parallel()
	e, ctx := emulatortest.New(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil))), t.Context()
	container := newContainer(t, e.Client(nil), "/tenantId", "/customerId")
	cfg := repository.Config{PartitionKey: []string{"/tenantId", "/customerId"}}
	customers, err := repository.New[Customer](container, cfg)
	must(t, err)
	orders, err := repository.New[Order](container, cfg)
	must(t, err)
	c, o, dst := &Customer{Name: "kept"}, &Order{}, &Order{}
	must(t, customers.In("acme", "c1").Create(ctx, c))
	err = orders.In("acme", "c1").Batch().Read(c.ID, dst).Create(o).Commit(ctx)
	if !errors.Is(err, repository.ErrEntityMismatch) || !strings.Contains(err.Error(), "was applied") || dst.ID != "" {
		t.Errorf("got %v and %+v", err, dst)
	}
	stored, err := orders.In("acme", "c1").Get(ctx, o.ID)
	must(t, err)
	if stored.ETag != o.ETag {
		t.Errorf("the entity has etag %q, the document %q", o.ETag, stored.ETag)
	}
}

type sneaky struct {
	tenantitem.TenantItem[sneaky]
	Ops []string `json:"_ops"`
}

func TestFieldsUnderReservedNamesAreRefused(t *testing.T) {
	t.Parallel()
	b := setupNotes(t)
	if _, err := repository.New[sneaky](b.container, repository.Config{}); !errors.Is(err, repository.ErrInvalid) || !strings.Contains(err.Error(), "_ops") {
		t.Errorf("got %v", err)
	}
}

func orderOf(id string) *Order {
	o := &Order{}
	o.ID = id
	return o
}
