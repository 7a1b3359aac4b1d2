package transfer_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/examples/transfer"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
)

type transferring func(ctx context.Context, accounts *repository.Scope[transfer.Account], from, to string, amount int) error

// accountsOf starts what a process of the service would start.
func accountsOf(w *emulatortest.World, provision bool) *repository.Scope[transfer.Account] {
	var accounts *repository.Repository[transfer.Account]
	// snippet: fx
	emulatortest.FX(w, fx.Options(
		registry.Module(registry.Config{Database: "bank", Provision: provision, Logger: slog.New(slog.DiscardHandler)}),
		registry.Entity[transfer.Account](),
		fx.Populate(&accounts),
	))
	// end snippet
	return accounts.In("acme")
}

// scenario is two transfers at the same time. The promise: no money appears or is lost.
func scenario(send transferring) emulatortest.Scenario {
	// snippet: scenario
	actor := func(from, to string) func(w *emulatortest.World) error {
		return func(w *emulatortest.World) error {
			var accounts *repository.Scope[transfer.Account]
			w.Undisturbed(func() { accounts = accountsOf(w, false) })
			return send(w.Context(), accounts, from, to, 30)
		}
	}
	return emulatortest.Scenario{
		Setup: func(w *emulatortest.World) {
			accounts := accountsOf(w, true)
			for _, id := range []string{"ada", "bob"} {
				if err := accounts.Create(w.Context(), account(id, 100)); err != nil {
					w.Fatal(err)
				}
			}
		},
		Actors: []emulatortest.Actor{
			{Name: "ada-to-bob", Do: actor("ada", "bob")},
			{Name: "bob-to-ada", Do: actor("bob", "ada")},
		},
		Check: func(w *emulatortest.World) error {
			sum := 0
			for a, err := range accountsOf(w, false).Query(w.Context(), repository.All()) {
				if err != nil {
					return err
				}
				sum += a.Balance
			}
			if sum != 200 {
				return fmt.Errorf("there were 200 and are %d", sum)
			}
			return nil
		},
	}
	// end snippet
}

func account(id string, balance int) *transfer.Account {
	a := &transfer.Account{Balance: balance}
	a.ID = id
	return a
}

func TestNaiveTransferLosesMoney(t *testing.T) {
	t.Parallel()
	finding, _ := emulatortest.Find(t, scenario(transfer.Naive), emulatortest.ExploreOptions{})
	if finding == nil {
		t.Fatal("nothing was found in a transfer of two steps")
	}
	t.Log(finding)
	page, err := os.ReadFile("../../../docs/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	// An unkind account adds faults of its own.
	if os.Getenv("GROVE_UNKIND") == "" && !strings.Contains(string(page), strings.TrimSpace(finding.String())) {
		t.Error("docs/testing.md shows another finding")
	}
}

func TestAtomicTransfer(t *testing.T) {
	t.Parallel()
	emulatortest.Explore(t, scenario(transfer.Atomic), emulatortest.ExploreOptions{
		Budget: time.Second,
		Sabotage: map[string]func(w *emulatortest.World){
			"money from nowhere": func(w *emulatortest.World) {
				if err := accountsOf(w, false).Create(w.Context(), account("eve", 1)); err != nil {
					w.Fatal(err)
				}
			},
		},
	})
}
