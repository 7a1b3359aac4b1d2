package scenarios_test

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Owner, Card and Badge are a chain of copies: a badge shows what its card shows of its owner.
type Owner struct {
	tenantitem.TenantItem[Owner]
	Name  string `json:"name"`
	Cards int    `json:"cards"`
}

type Card struct {
	tenantitem.TenantItem[Card]
	OwnerID   tenantitem.Ref[Owner] `json:"ownerId,omitempty"`
	OwnerName string                `json:"ownerName,omitempty" denorm:"sync,ref=ownerId,field=name"`
}

type Badge struct {
	tenantitem.TenantItem[Badge]
	CardID    tenantitem.Ref[Card] `json:"cardId,omitempty"`
	OwnerName string               `json:"ownerName,omitempty" denorm:"sync,ref=cardId,field=ownerName"`
}

// chain is the application as a process of its own sees it.
type chain struct {
	db     *registry.Database
	keeper *denorm.Keeper
	owners *repository.Repository[Owner]
	cards  *repository.Repository[Card]
	badges *repository.Repository[Badge]
}

func chainOf(w *emulatortest.World) chain {
	copies := denorm.New(denorm.Config{}, denorm.CountOf[Owner, Card]("cards", "ownerId"), denorm.OnDeleteOf[Card, Owner]("ownerId", denorm.Clear))
	plan, err := registry.NewPlan(registry.Config{Database: "copies", Provision: true, Logger: slog.New(slog.DiscardHandler)}, []registry.Declaration{
		registry.EntityOf[Owner](registry.SoftDelete(24 * time.Hour)), registry.EntityOf[Card](), registry.EntityOf[Badge](),
	}, copies.Extension())
	must(w, err)
	c := chain{}
	c.db, err = registry.Open(w.Client(repository.ClientOptions(nil)), plan)
	must(w, err)
	c.keeper, err = copies.Keeper()
	must(w, err)
	c.owners, err = registry.RepositoryOf[Owner](c.db)
	must(w, err)
	c.cards, err = registry.RepositoryOf[Card](c.db)
	must(w, err)
	c.badges, err = registry.RepositoryOf[Badge](c.db)
	must(w, err)
	return c
}

func setupChain(w *emulatortest.World) {
	c := chainOf(w)
	must(w, c.db.Prepare(w.Context()))
	owner, card := &Owner{Name: "Ada"}, &Card{OwnerID: "owner"}
	owner.ID, card.ID = "owner", "card"
	must(w, c.owners.In("acme").Create(w.Context(), owner))
	must(w, c.cards.In("acme").Create(w.Context(), card))
	badge := &Badge{CardID: "card"}
	badge.ID = "badge"
	must(w, c.badges.In("acme").Create(w.Context(), badge))
	must(w, c.keeper.CatchUp(w.Context()))
}

// catchUp is what a further process does in the end.
func catchUp(w *emulatortest.World) {
	must(w, chainOf(w).keeper.CatchUp(w.Context()))
}

// chainIsTrue is the promise: once the feed is drained, nothing differs, and a reference that was cleared has no copies.
func chainIsTrue(w *emulatortest.World) error {
	c := chainOf(w)
	for d, err := range c.keeper.Audit(w.Context(), "acme") {
		if err != nil {
			return err
		}
		return fmt.Errorf("%s of %s is %s and should be %s (%s)", d.Pointer, d.ID, d.Have, d.Want, d.Reason)
	}
	card, err := c.cards.In("acme").Get(w.Context(), "card")
	if err != nil {
		return err
	}
	_, err = c.owners.In("acme").Get(w.Context(), "owner")
	switch {
	case errors.Is(err, repository.ErrNotFound) && card.OwnerID != "":
		return errors.New("the owner is gone, and the card still refers to it")
	case err != nil && !errors.Is(err, repository.ErrNotFound):
		return err
	case (card.OwnerID == "") != (card.OwnerName == ""):
		return fmt.Errorf("the card refers to %q and shows %q", card.OwnerID, card.OwnerName)
	}
	return nil
}

// exploreChain tries the kinds of faults whose names begin so, and finds a copy that is spoilt in the end.
func exploreChain(t *testing.T, s emulatortest.Scenario, kinds ...string) {
	t.Helper()
	faults := slices.DeleteFunc(emulatortest.FaultKinds(), func(k emulatortest.FaultKind) bool {
		return !slices.ContainsFunc(kinds, func(prefix string) bool { return strings.HasPrefix(k.Name, prefix) })
	})
	emulatortest.Explore(t, s, emulatortest.ExploreOptions{Budget: time.Nanosecond, Faults: faults, Sabotage: map[string]func(w *emulatortest.World){
		"a copy is spoilt in the end": func(w *emulatortest.World) {
			emulatortest.State[sabotaged](w).after = true
		},
	}})
}

// sabotaged says that the copies are spoilt when the keeper has caught up.
type sabotaged struct{ after bool }

func spoil(w *emulatortest.World) {
	if !emulatortest.State[sabotaged](w).after {
		return
	}
	patchOwnerName(w, "Badge", "badge", "spoilt")
}

// patchOwnerName writes a copy around Grove.
func patchOwnerName(w *emulatortest.World, entity, id, name string) {
	db := chainOf(w).db
	container, ok := db.Container(registry.DefaultContainer)
	if !ok {
		w.Fatal("no container")
	}
	var ops azcosmos.PatchOperations
	ops.AppendSet("/ownerName", name)
	_, err := container.PatchItem(w.Context(), azcosmos.NewPartitionKeyString("acme").AppendString(entity), id, ops, nil)
	must(w, err)
}

// TestAnUndoneDeleteAndTheKeeper: a source is deleted and restored while the keeper clears what refers to it. In the end the reference is
// there with its copies, or cleared with them, and the count is right.
func TestAnUndoneDeleteAndTheKeeper(t *testing.T) {
	t.Parallel()
	exploreChain(t, emulatortest.Scenario{
		Setup: setupChain,
		Actors: []emulatortest.Actor{
			{Name: "undecided", Do: func(w *emulatortest.World) error {
				c := chainOf(w)
				if err := refusalIsFine(c.owners.In("acme").Delete(w.Context(), "owner", nil)); err != nil {
					return err
				}
				return refusalIsFine(c.owners.In("acme").Restore(w.Context(), "owner"))
			}},
			{Name: "keeper", Do: func(w *emulatortest.World) error { return chainOf(w).keeper.CatchUp(w.Context()) }},
		},
		Then:  func(w *emulatortest.World) { catchUp(w); spoil(w) },
		Check: chainIsTrue,
	}, "killed")
}

// TestAKilledRepairGoesOn: a repair of a chain that dies or is held up anywhere, and a second one that goes on from its last progress, leave nothing
// that differs, before the feed has been followed.
func TestAKilledRepairGoesOn(t *testing.T) {
	t.Parallel()
	repair := func(w *emulatortest.World) error {
		ctx := repository.WithSession(w.Context(), emulatortest.State[repaired](w).session)
		_, err := chainOf(w).keeper.Repair(ctx, "acme", &denorm.RepairOptions{
			Resume:   emulatortest.State[repaired](w).resume,
			Progress: func(p denorm.RepairProgress) { emulatortest.State[repaired](w).resume = p.Resume },
		})
		return err
	}
	exploreChain(t, emulatortest.Scenario{
		Setup: func(w *emulatortest.World) {
			setupChain(w)
			patchOwnerName(w, "Card", "card", "stale")
			patchOwnerName(w, "Badge", "badge", "stale")
			emulatortest.State[repaired](w).session = sessionOfChain(w)
		},
		Actors: []emulatortest.Actor{
			{Name: "repairer", Do: repair},
		},
		Then: func(w *emulatortest.World) {
			must(w, repair(w))
			spoil(w)
		},
		Check: chainIsTrue,
	}, "killed", "suspended", "late", "behind", "cut")
}

// repaired is the session that the repairs are handed, and how far they told they were.
type repaired struct{ session, resume string }

// sessionOfChain has seen the card and the badge as they are.
func sessionOfChain(w *emulatortest.World) string {
	c := chainOf(w)
	_, err := c.cards.In("acme").Get(w.Context(), "card")
	must(w, err)
	_, err = c.badges.In("acme").Get(w.Context(), "badge")
	must(w, err)
	return c.cards.SessionToken()
}
