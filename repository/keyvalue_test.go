package repository_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

type Flagged struct {
	tenantitem.TenantItem[Flagged]
	Open bool   `json:"open"`
	Size int8   `json:"size"`
	Note string `json:"note"`
}

type Numbered struct {
	tenantitem.TenantItem[Numbered]
	Number int64 `json:"number"`
}

type Weighed struct {
	tenantitem.TenantItem[Weighed]
	Weight float64 `json:"weight"`
}

type Worded struct {
	tenantitem.TenantItem[Worded]
	Number int64 `json:"number,string"`
}

func setupKeyed[T any, PT interface {
	tenantitem.Root[T]
}](t *testing.T, paths ...string) (*repository.Repository[T], *azcosmos.ContainerClient, *noteBundle) {
	t.Helper()
	b := setupNotes(t)
	db, err := b.client.NewDatabase("db")
	must(t, err)
	_, err = db.CreateContainer(t.Context(), azcosmos.ContainerProperties{
		ID: "keyed", PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: paths, Kind: azcosmos.PartitionKeyKindMultiHash, Version: 2},
	}, nil)
	must(t, err)
	container, err := db.NewContainer("keyed")
	must(t, err)
	repo, err := repository.New[T, PT](container, repository.Config{PartitionKey: paths})
	must(t, err)
	return repo, container, b
}

func TestZeroKeyLevelsAreValues(t *testing.T) {
	t.Parallel()
	repo, _, _ := setupKeyed[Flagged](t, "/tenantId", "/open", "/size")
	ctx := t.Context()
	all := []*Flagged{{Note: "none"}, {Open: true, Note: "open"}, {Size: 5, Note: "five"}}
	receipt, err := repo.In("acme").SaveAll(ctx, slices.Values(all), nil)
	if err != nil {
		t.Fatal(err, receipt.Items)
	}
	for i, n := range all {
		if got, err := repo.In("acme", n.Open, n.Size).Get(ctx, n.ID); err != nil || got.Note != all[i].Note {
			t.Errorf("%s: %v %v", n.Note, got, err)
		}
	}
	for name, change := range map[string]func(*Flagged) error{
		"to false": func(n *Flagged) error { n.Open = false; return nil },
	} {
		if _, err := repo.In("acme", true, 0).Mutate(ctx, all[1].ID, change); !errors.Is(err, repository.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := repo.In("acme", false, 5).Mutate(ctx, all[2].ID, func(n *Flagged) error { n.Size = 0; return nil }); !errors.Is(err, repository.ErrInvalid) {
		t.Errorf("to 0: %v", err)
	}
}

func TestScopeValuesThatDoNotFit(t *testing.T) {
	t.Parallel()
	flagged, _, b := setupKeyed[Flagged](t, "/tenantId", "/open", "/size")
	mark := b.emulator.Requests().Mark()
	for name, scope := range map[string]*repository.Scope[Flagged]{
		"300 in an int8":       flagged.In("acme", true, 300),
		"a fraction":           flagged.In("acme", true, 1.5),
		"a number as a bool":   flagged.In("acme", 1),
		"a text as a number":   flagged.In("acme", true, "5"),
		"a bool as a number":   flagged.In("acme", true, false),
		"an int past a double": flagged.In("acme", true, int64(1<<53)+1),
	} {
		_, err := scope.First(t.Context(), repository.All())
		if !errors.Is(err, repository.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(b.emulator.Requests().Since(mark)); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
	numbered, _, _ := setupKeyed[Numbered](t, "/tenantId", "/number")
	if err := numbered.In("acme", int64(1<<53-1)).Create(t.Context(), &Numbered{}); err != nil {
		t.Error(err)
	}
	for _, n := range []int64{1 << 53, 1<<53 + 1, math.MinInt64} {
		if err := numbered.In("acme", n).Create(t.Context(), &Numbered{}); !errors.Is(err, repository.ErrInvalid) || !strings.Contains(err.Error(), "string") {
			t.Errorf("%d: %v", n, err)
		}
		receipt, _ := numbered.In("acme").SaveAll(t.Context(), slices.Values([]*Numbered{{Number: n}}), nil)
		if err := receipt.Items[0].Err; !errors.Is(err, repository.ErrInvalid) {
			t.Errorf("SaveAll of %d: %v", n, err)
		}
	}
}

func TestMinusZeroIsZero(t *testing.T) {
	t.Parallel()
	weighed, _, _ := setupKeyed[Weighed](t, "/tenantId", "/weight")
	n := &Weighed{}
	must(t, weighed.In("acme", math.Copysign(0, -1)).Create(t.Context(), n))
	if _, err := weighed.In("acme", 0).Get(t.Context(), n.ID); err != nil {
		t.Error(err)
	}
	if got, err := weighed.In("acme").First(t.Context(), repository.All()); err != nil || math.Signbit(got.Weight) {
		t.Errorf("%v %v", got, err)
	}
}

func TestKeyThatIsANumberStoredAsText(t *testing.T) {
	t.Parallel()
	worded, _, _ := setupKeyed[Worded](t, "/tenantId", "/number")
	n := &Worded{}
	must(t, worded.In("acme", int64(math.MaxInt64)).Create(t.Context(), n))
	if n.Number != math.MaxInt64 {
		t.Errorf("filled with %d", n.Number)
	}
	for _, key := range []any{int64(math.MaxInt64), "9223372036854775807"} {
		if _, err := worded.In("acme", key).Get(t.Context(), n.ID); err != nil {
			t.Error(err)
		}
	}
	receipt, err := worded.In("acme").SaveAll(t.Context(), slices.Values([]*Worded{{Number: math.MaxInt64 - 1}}), nil)
	must(t, err)
	if _, err := worded.In("acme", int64(math.MaxInt64-1)).Get(t.Context(), receipt.Items[0].ID); err != nil {
		t.Error(err)
	}
	if _, err := worded.In("acme", "many").Get(t.Context(), "x"); !errors.Is(err, repository.ErrInvalid) {
		t.Error(err)
	}
}

func TestIDTakenUnderAnOlderName(t *testing.T) {
	t.Parallel()
	b, ctx := setupNotes(t), t.Context()
	old := newRepository(t, b.container, repository.Config{EntityType: "OldNote"}).In("acme")
	now := newRepository(t, b.container, repository.Config{Aliases: []string{"OldNote"}}).In("acme")
	taken := func() *Note { n := &Note{Title: "new"}; n.ID = "n"; return n }
	n := taken()
	n.Title = "old"
	must(t, old.Create(ctx, n))
	receipt, _ := now.SaveAll(ctx, slices.Values([]*Note{taken(), {Title: "other"}}), nil)
	for verb, err := range map[string]error{
		"Create": now.Create(ctx, taken()), "Save": now.Save(ctx, taken()), "Batch": now.Batch().Create(&Note{}).Create(taken()).Commit(ctx),
		"SaveAll": receipt.Items[0].Err,
	} {
		if !errors.Is(err, repository.ErrConflict) {
			t.Errorf("%s: %v", verb, err)
		}
	}
	if receipt.Items[1].Err != nil {
		t.Error(receipt.Items[1].Err)
	}
	if err := now.Batch().Upsert(taken()).Commit(ctx); !errors.Is(err, repository.ErrInvalid) {
		t.Errorf("Upsert in a batch: %v", err)
	}
	put := taken()
	must(t, now.Upsert(ctx, put))
	if count, err := now.Count(ctx, repository.Where(repository.Eq("id", "n"))); count != 1 || err != nil {
		t.Fatalf("%d documents have the id: %v", count, err)
	}
	if got, err := now.Get(ctx, "n"); err != nil || got.Title != "new" || got.EntityType != "OldNote" {
		t.Errorf("%+v %v", got, err)
	}
}

// The id, which In takes no value for, can't stand before a level that it does.
func TestTheIDIsTheLastLevelOfAKey(t *testing.T) {
	t.Parallel()
	container := setupNotes(t).container
	_, err := repository.New[Note](container, repository.Config{PartitionKey: []string{"/tenantId", "/id", "/title"}})
	if !errors.Is(err, repository.ErrInvalid) {
		t.Errorf("want ErrInvalid, got %v", err)
	}
}
