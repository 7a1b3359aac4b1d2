package partition_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.uber.org/goleak"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/partition"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type shop struct {
	client    *azcosmos.Client
	customers *repository.Repository[Customer]
	orders    *repository.Repository[Order]
}

// setup makes two customers with 12 orders each, of 0 to 11.
func setup(t *testing.T, options ...emulatortest.Option) *shop {
	t.Helper()
	s := &shop{client: emulatortest.New(t, options...).Client(nil)}
	var err error
	s.customers, s.orders, err = open(t.Context(), s.client)
	check(t, err)
	for _, id := range []string{"ada", "ben"} {
		c := &Customer{OrderCount: 12}
		c.ID = id
		customer := s.customers.Global().Batch().Create(c)
		sales := s.orders.Global(id).Batch()
		for i := range 12 {
			sales.Create(&Order{Total: float64(i)})
		}
		check(t, partition.Commit(t.Context(), customer, sales))
	}
	return s
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	for kind, options := range map[string][]emulatortest.Option{"kind": {emulatortest.Calm()}, "unkind": {emulatortest.Unkind(3)}} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := setup(t, options...)
			for _, tc := range []struct {
				name  string
				q     repository.Query
				size  int
				items int
				more  bool
			}{
				{"all", repository.All(), 100, 12, false},
				{"as many as there are", repository.All(), 12, 12, false},
				{"fewer", repository.All(), 5, 5, true},
				{"some", repository.Where(repository.Gte("total", 9)), 100, 3, false},
				{"none", repository.Where(repository.Gte("total", 90)), 100, 0, false},
			} {
				customer := partition.FindID(s.customers.Global(), "ada")
				sales := partition.Find(s.orders.Global("ada"), tc.q, tc.size)
				for range 2 { // it may be read again
					ctx, tally := repository.WithTally(t.Context())
					check(t, partition.Read(ctx, sales, customer))
					ada, err := customer.One()
					check(t, err)
					if ada.ID != "ada" || ada.OrderCount != 12 || customer.More || len(sales.Items) != tc.items || sales.More != tc.more {
						t.Errorf("%s: customer %q with %d, %d orders, more %t", tc.name, ada.ID, ada.OrderCount, len(sales.Items), sales.More)
					}
					for _, o := range sales.Items {
						if o.CustomerID != "ada" || o.ETag == "" {
							t.Errorf("%s: an order of %q", tc.name, o.CustomerID)
						}
					}
					if kind == "kind" && tally.Requests() != 1 {
						t.Errorf("%s: %d requests", tc.name, tally.Requests())
					}
				}
			}
		})
	}
}

// What can't be one query is refused by name, without a request.
func TestReadRefuses(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ada := func() partition.Part { return partition.FindID(s.customers.Global(), "ada") }
	sales := func(q repository.Query) partition.Part { return partition.Find(s.orders.Global("ada"), q, 10) }
	bound := repository.WithTenant(t.Context(), "acme")
	for name, tc := range map[string]struct {
		ctx   context.Context
		parts []partition.Part
		want  error
	}{
		"two partitions":     {t.Context(), []partition.Part{ada(), partition.Find(s.orders.Global("ben"), repository.All(), 10)}, repository.ErrInvalid},
		"no partition":       {t.Context(), []partition.Part{ada(), partition.Find(s.orders.Global(), repository.All(), 10)}, repository.ErrInvalid},
		"one type twice":     {t.Context(), []partition.Part{sales(repository.All()), sales(repository.Where(repository.Eq("total", 1)))}, repository.ErrInvalid},
		"an order":           {t.Context(), []partition.Part{ada(), sales(repository.All().OrderBy("total"))}, repository.ErrInvalid},
		"a limit":            {t.Context(), []partition.Part{ada(), sales(repository.All().Limit(3))}, repository.ErrInvalid},
		"SQL":                {t.Context(), []partition.Part{ada(), sales(repository.SQL("c.total > 1"))}, repository.ErrInvalid},
		"no such field":      {t.Context(), []partition.Part{ada(), sales(repository.Where(repository.Eq("totals", 1)))}, repository.ErrInvalid},
		"a size of 0":        {t.Context(), []partition.Part{ada(), partition.Find(s.orders.Global("ada"), repository.All(), 0)}, repository.ErrInvalid},
		"a size of 1001":     {t.Context(), []partition.Part{ada(), partition.Find(s.orders.Global("ada"), repository.All(), 1001)}, repository.ErrInvalid},
		"no id":              {t.Context(), []partition.Part{partition.FindID(s.customers.Global(), "")}, repository.ErrInvalid},
		"a key too many":     {t.Context(), []partition.Part{ada(), partition.Find(s.orders.Global("ada", "x"), repository.All(), 10)}, repository.ErrInvalid},
		"a tenant's context": {bound, []partition.Part{ada(), sales(repository.All())}, repository.ErrTenantMismatch},
		"a tenant":           {t.Context(), []partition.Part{ada(), partition.Find(s.orders.In("acme", "ada"), repository.All(), 10)}, repository.ErrInvalid},
	} {
		ctx, tally := repository.WithTally(tc.ctx)
		if err := partition.Read(ctx, tc.parts...); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v", name, err)
		}
		if tally.Requests() != 0 {
			t.Errorf("%s: %d requests", name, tally.Requests())
		}
	}
	check(t, partition.Read(t.Context()))
}

// Documents of other types in the partition are none of the read's business; one
// of a type that is read and does not fit hides no other.
func TestAReadPassesOverOddDocuments(t *testing.T) {
	t.Parallel()
	s := setup(t)
	container, err := s.client.NewContainer("shop", "customer")
	check(t, err)
	for i, doc := range []string{
		`"type":"order","total":"dear"`, `"type":"invoice","total":3`, `"total":4`, `"type":{"name":"order"}`, `"type":"order","deletedAt":170000000,"total":1`,
	} {
		_, err := container.CreateItem(t.Context(), azcosmos.NewPartitionKeyString("ada"), fmt.Appendf(nil, `{"id":"odd-%d","customerId":"ada",%s}`, i, doc), nil)
		check(t, err)
	}
	customer := partition.FindID(s.customers.Global(), "ada")
	sales := partition.Find(s.orders.Global("ada"), repository.All(), 100)
	err = partition.Read(t.Context(), customer, sales)
	var unread *repository.DecodeError
	if !errors.As(err, &unread) {
		t.Errorf("orders that can't be read: %v", err)
	}
	for i, named := range []bool{true, false, false, false, true} {
		if strings.Contains(fmt.Sprint(err), fmt.Sprintf(`"odd-%d"`, i)) != named {
			t.Errorf("odd-%d: named should be %t: %v", i, named, err)
		}
	}
	if len(customer.Items) != 1 || len(sales.Items) != 12 {
		t.Errorf("%d customers and %d orders, want 1 and 12", len(customer.Items), len(sales.Items))
	}
}

// A long list costs no more than what is asked for of it.
func TestReadOfALongList(t *testing.T) {
	t.Parallel()
	s := setup(t, emulatortest.Calm())
	receipt, err := s.orders.Global("ada").SaveAll(t.Context(), func(yield func(*Order) bool) {
		for range 2000 {
			if !yield(&Order{}) {
				return
			}
		}
	}, nil)
	check(t, err)
	if receipt.Succeeded != 2000 {
		t.Fatalf("%d saved", receipt.Succeeded)
	}
	ctx, tally := repository.WithTally(t.Context())
	customer, sales := partition.FindID(s.customers.Global(), "ada"), partition.Find(s.orders.Global("ada"), repository.All(), 50)
	check(t, partition.Read(ctx, customer, sales))
	if len(sales.Items) != 50 || !sales.More || tally.Requests() > 2 {
		t.Errorf("%d orders, more %t, %d requests", len(sales.Items), sales.More, tally.Requests())
	}
}

// What only contains a batch is refused like any other value that is none.
func TestCommitRefusesWhatIsNoBatch(t *testing.T) {
	t.Parallel()
	type wrapped struct{ *repository.Batch[Order] }
	for name, err := range map[string]error{
		"a struct around none":    partition.Commit(t.Context(), wrapped{}),
		"a struct around a batch": partition.Commit(t.Context(), wrapped{new(repository.Batch[Order])}),
		"none":                    partition.Commit(t.Context(), (*repository.Batch[Order])(nil)),
		"one without a scope":     partition.Commit(t.Context(), new(repository.Batch[Order])),
	} {
		if !errors.Is(err, repository.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
