package repository_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"pgregory.net/rapid"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Sales of a shop lie with the shop's total, which changes with them.

type Sale struct {
	tenantitem.TenantItem[Sale]
	Shop  string   `json:"shop"`
	Item  string   `json:"item"`
	Tags  []string `json:"tags,omitempty"`
	Price int64    `json:"price"`
	From  *Address `json:"from,omitempty"`
}

type Total struct {
	tenantitem.TenantItem[Total]
	Shop  string `json:"shop"`
	Sales int64  `json:"sales"`
}

// ledger keeps totals, and remembers what it was told.
type ledger struct {
	b *salesBundle
	// companions takes the place of the total, where set.
	companions func(engine.Transaction) []engine.Companion

	mu   sync.Mutex
	told []engine.Transaction
}

func (l *ledger) Members(s *engine.Collection) ([]string, bool) {
	if s.EntityType() == "Sale" {
		return []string{"item", "tags", "price", "from"}, true
	}
	return []string{"sales"}, false
}

func (l *ledger) Companions(_ context.Context, tx engine.Transaction) ([]engine.Companion, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told = append(l.told, tx)
	if l.companions != nil {
		return l.companions(tx), nil
	}
	delta := int64(0)
	for _, c := range tx.Changes {
		if c.Before == nil && c.After != nil {
			delta++
		}
		if c.Before != nil && c.After == nil {
			delta--
		}
	}
	if delta == 0 {
		return nil, nil
	}
	return []engine.Companion{l.b.add("total", tx.Key, delta)}, nil
}

type salesBundle struct {
	emulator   *emulatortest.Emulator
	container  *azcosmos.ContainerClient
	ledger     *ledger
	sales      *repository.Scope[Sale]
	totals     *repository.Scope[Total]
	collection *engine.Collection
}

func setupSales(t testing.TB, opts ...emulatortest.Option) *salesBundle {
	t.Helper()
	opts = append([]emulatortest.Option{emulatortest.WithClientOptions(*repository.ClientOptions(nil))}, opts...)
	b := &salesBundle{emulator: emulatortest.New(t, opts...)}
	b.ledger = &ledger{b: b}
	keys := []string{"/tenantId", "/shop"}
	b.container = newContainer(t, b.emulator.Client(nil), keys...)
	sales, err := repository.New[Sale](b.container, repository.Config{PartitionKey: keys})
	must(t, err)
	totals, err := repository.New[Total](b.container, repository.Config{PartitionKey: keys})
	must(t, err)
	for _, c := range []*engine.Collection{engine.CollectionOf(sales), engine.CollectionOf(totals)} {
		must(t, c.SetTransactionHook(b.ledger))
	}
	b.sales, b.totals, b.collection = sales.In("acme", "s1"), totals.In("acme", "s1"), engine.CollectionOf(totals)
	total := &Total{}
	total.ID = "total"
	must(t, b.totals.Create(t.Context(), total))
	return b
}

func (b *salesBundle) add(id string, key []any, by int64) engine.Companion {
	return engine.Companion{
		Collection:    b.collection,
		DocumentPatch: engine.DocumentPatch{Document: engine.Document{ID: id, Key: key}},
		Increments:    []engine.MemberIncrement{{Pointer: "/sales", By: by}},
	}
}

func (b *salesBundle) total(t *testing.T, id string, want int64) {
	t.Helper()
	total, err := b.totals.Get(t.Context(), id)
	must(t, err)
	if total.Sales != want {
		t.Errorf("%s has %d sales, want %d", id, total.Sales, want)
	}
}

func sale(id, item string) *Sale {
	s := &Sale{Item: item}
	s.ID = id
	return s
}

// With companions every verb is a batch, and fails as it does without.
func TestVerbsFailAlikeWithCompanions(t *testing.T) {
	t.Parallel()
	b := setupSales(t)
	ctx := t.Context()
	must(t, b.sales.Create(ctx, sale("a", "tea")))
	stale, err := b.sales.Get(ctx, "a")
	must(t, err)
	_, err = b.sales.Mutate(ctx, "a", func(s *Sale) error { s.Item = "coffee"; return nil })
	must(t, err)
	missing := sale("none", "x")
	missing.ETag = `"1"`
	tests := []struct {
		name string
		do   func() error
		want error
	}{
		{"create what is there", func() error { return b.sales.Create(ctx, sale("a", "x")) }, repository.ErrConflict},
		{"create what another entity type has", func() error { return b.sales.Create(ctx, sale("total", "x")) }, repository.ErrConflict},
		{"replace an older version", func() error { return b.sales.Replace(ctx, stale) }, repository.ErrPreconditionFailed},
		{"replace what is not there", func() error { return b.sales.Replace(ctx, missing) }, repository.ErrNotFound},
		{"patch under a condition", func() error {
			_, err := b.sales.Patch(ctx, "a", repository.Set("/item", "x").If(repository.Eq("item", "tea")))
			return err
		}, repository.ErrPreconditionFailed},
		{"patch an older version", func() error {
			_, err := b.sales.Patch(ctx, "a", repository.Set("/item", "x").IfMatch(stale.ETag))
			return err
		}, repository.ErrPreconditionFailed},
		{"patch what is not there", func() error {
			_, err := b.sales.Patch(ctx, "none", repository.Set("/item", "x"))
			return err
		}, repository.ErrNotFound},
		{"delete an older version", func() error { return b.sales.Delete(ctx, "a", &repository.DeleteOptions{ETag: stale.ETag}) }, repository.ErrPreconditionFailed},
		{"delete what is not there", func() error { return b.sales.Delete(ctx, "none", nil) }, repository.ErrNotFound},
		{"delete another entity type", func() error { return b.sales.Delete(ctx, "total", nil) }, repository.ErrEntityMismatch},
		{"a batch with one of them", func() error { return b.sales.Batch().Create(sale("b", "x")).Delete("none", "").Commit(ctx) }, repository.ErrNotFound},
	}
	for _, tt := range tests {
		if err := tt.do(); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
	var conflict *repository.ConflictError[Sale]
	if err := b.sales.Replace(ctx, stale); !errors.As(err, &conflict) || conflict.Current.Item != "coffee" {
		t.Errorf("no document as it is now: %v", err)
	}
	b.total(t, "total", 1)
}

// A lost answer is found out for the operation and its companions together.
func TestCompanionsOfLostAnswersCountOnce(t *testing.T) {
	t.Parallel()
	b := setupSales(t)
	ctx := t.Context()
	lose := func() {
		b.emulator.Fault(emulator.Answer(503, 0).AfterEffect().On(emulator.TransactionalBatch))
		b.emulator.Fault(emulator.Answer(503, 0).On(emulator.TransactionalBatch))
	}
	for i, do := range []func() error{
		func() error { return b.sales.Create(ctx, sale("a", "tea")) },
		func() error { return b.sales.Upsert(ctx, sale("b", "tea")) },
		func() error { return b.sales.Batch().Create(sale("c", "x")).Create(sale("d", "y")).Commit(ctx) },
		func() error {
			_, err := b.sales.SaveAll(ctx, slices.Values([]*Sale{sale("e", "x"), sale("f", "y")}), nil)
			return err
		},
		func() error { return b.sales.Delete(ctx, "b", nil) },
		func() error { _, err := b.sales.DeleteAll(ctx, slices.Values([]string{"c", "d"}), nil); return err },
	} {
		lose()
		must(t, do())
		b.total(t, "total", []int64{1, 2, 4, 6, 5, 3}[i])
	}
}

// A companion that was bound to another version is asked for again; one that
// has no room is left out of a batch that can't be divided.
func TestCompanionsAreAskedForAgain(t *testing.T) {
	t.Parallel()
	b := setupSales(t)
	b.ledger.companions = func(tx engine.Transaction) []engine.Companion {
		c := b.add("total", tx.Key, 1)
		if !tx.Again {
			c.ETag = `"of another version"`
		}
		return []engine.Companion{c}
	}
	must(t, b.sales.Create(t.Context(), sale("a", "tea")))
	b.total(t, "total", 1)
	if n := len(b.ledger.told); n != 2 {
		t.Errorf("it was asked %d times", n)
	}
}

func TestCompanionsWithoutRoom(t *testing.T) {
	t.Parallel()
	b := setupSales(t)
	ctx := t.Context()
	var ids []string
	for i := range 100 {
		total := &Total{}
		total.ID = fmt.Sprint("t", i)
		must(t, b.totals.Create(ctx, total))
		ids = append(ids, total.ID)
	}
	b.ledger.companions = func(tx engine.Transaction) []engine.Companion {
		var out []engine.Companion
		for _, id := range ids[:min(len(ids), 2*len(tx.Changes))] {
			out = append(out, b.add(id, tx.Key, 1))
		}
		return out
	}
	batch := b.sales.Batch()
	for i := range 40 {
		batch = batch.Create(sale(fmt.Sprint("s", i), "x"))
	}
	must(t, batch.Commit(ctx)) // with 60 of its 80 companions
	b.total(t, "t59", 1)
	b.total(t, "t60", 0)
	var many []*Sale
	for i := range 60 {
		many = append(many, sale(fmt.Sprint("m", i), "x"))
	}
	_, err := b.sales.SaveAll(ctx, slices.Values(many), nil) // divided, with all
	must(t, err)
	b.total(t, "t59", 3)
}

// What becomes of a patched document is foretold from its edits; the service
// has the last word.
func TestForetoldEditsAreWhatTheServiceDoes(t *testing.T) {
	t.Parallel()
	b := setupSales(t, emulatortest.Calm()) // it reads around the repository, without its session
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		s := sale(fmt.Sprint("s", n), "item")
		s.Tags = rapid.SliceOfN(rapid.StringMatching(`[a-c]`), 0, 3).Draw(r, "tags")
		if rapid.Bool().Draw(r, "from") {
			s.From = &Address{City: "Oslo"}
		}
		must(t, b.sales.Create(t.Context(), s))
		edits := repository.Set("/item", "first")
		for range rapid.IntRange(0, 5).Draw(r, "edits") {
			edits = drawEdit(r, edits)
		}
		_, err := b.sales.Patch(t.Context(), s.ID, edits)
		tx := b.ledger.told[len(b.ledger.told)-1]
		if err != nil {
			if !reflect.DeepEqual(valuesOf(r, tx.Changes[0].Before.Fields), valuesOf(r, tx.Changes[0].After.Fields)) {
				r.Fatalf("%v, but a change was foretold", err)
			}
			return
		}
		stored := storedFields(t, b, s.ID)
		for _, name := range []string{"item", "tags", "price", "from"} {
			want, have := valuesOf(r, stored)[name], valuesOf(r, tx.Changes[0].After.Fields)[name]
			if !reflect.DeepEqual(have, want) {
				r.Fatalf("%s is %v and was foretold as %v", name, want, have)
			}
		}
	})
}

func drawEdit(r *rapid.T, edits repository.Edits) repository.Edits {
	index := rapid.IntRange(0, 3).Draw(r, "index")
	at := fmt.Sprint("/tags/", index)
	switch rapid.IntRange(0, 8).Draw(r, "edit") {
	case 0:
		return edits.Add("/tags/-", "new")
	case 1:
		return edits.Add(at, "in")
	case 2:
		return edits.Remove(at)
	case 3:
		return edits.Set(at, "set")
	case 4:
		return edits.Increment("/price", int64(index)-1)
	case 5:
		return edits.Set("/from", Address{City: "Bergen"})
	case 6:
		return edits.Set("/from/city", "Tromsø")
	case 7:
		return edits.Remove("/from")
	default:
		return edits.Set("/tags", []string{"only"})
	}
}

func valuesOf(r *rapid.T, fields map[string]json.RawMessage) map[string]any {
	out := map[string]any{}
	for name, raw := range fields {
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			r.Fatal(err)
		}
		out[name] = v
	}
	return out
}

func storedFields(t *testing.T, b *salesBundle, id string) map[string]json.RawMessage {
	t.Helper()
	key := azcosmos.NewPartitionKeyString("acme").AppendString("s1")
	resp, err := b.container.ReadItem(t.Context(), key, id, nil)
	must(t, err)
	var fields map[string]json.RawMessage
	must(t, json.Unmarshal(resp.Value, &fields))
	return fields
}
