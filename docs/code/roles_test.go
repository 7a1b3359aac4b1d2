package code

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
)

// What a verb of the roles' table in docs/operations.md needs: with these actions it works, and without any one of them it does not.
func TestActionsThatVerbsNeed(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it makes identities with roles")
	page, err := os.ReadFile("../operations.md")
	if err != nil {
		t.Fatal(err)
	}
	actions := map[string]string{
		"items/read": emulator.ActionReadItem, "items/create": emulator.ActionCreateItem, "items/replace": emulator.ActionReplaceItem,
		"items/upsert": emulator.ActionUpsertItem, "items/delete": emulator.ActionDeleteItem,
		"executeQuery": emulator.ActionExecuteQuery, "readChangeFeed": emulator.ActionReadChangeFeed,
	}
	for _, verb := range []struct {
		name string
		do   func(ctx context.Context, s *service, n *Note) error
	}{
		{"`Get`", func(ctx context.Context, s *service, n *Note) error {
			_, err := s.notes.In("acme").Get(ctx, n.ID)
			return err
		}},
		{"`Exists`", func(ctx context.Context, s *service, n *Note) error {
			_, err := s.notes.In("acme").Exists(ctx, n.ID)
			return err
		}},
		{"`GetMany`", func(ctx context.Context, s *service, n *Note) error {
			_, err := s.notes.In("acme").GetMany(ctx, n.ID)
			return err
		}},
		{"queries", func(ctx context.Context, s *service, _ *Note) error {
			_, err := s.notes.In("acme").First(ctx, repository.All())
			return err
		}},
		{"`Create`", func(ctx context.Context, s *service, _ *Note) error { return s.notes.In("acme").Create(ctx, &Note{}) }},
		{"`SaveAll` of new documents", func(ctx context.Context, s *service, _ *Note) error {
			_, err := s.notes.In("acme").SaveAll(ctx, slices.Values([]*Note{{}, {}}), nil)
			return err
		}},
		{"`Replace`", func(ctx context.Context, s *service, n *Note) error { return s.notes.In("acme").Replace(ctx, n) }},
		{"`Patch`", func(ctx context.Context, s *service, n *Note) error {
			_, err := s.notes.In("acme").Patch(ctx, n.ID, repository.Set("/stars", 1))
			return err
		}},
		{"`Mutate`", func(ctx context.Context, s *service, n *Note) error {
			_, err := s.notes.In("acme").Mutate(ctx, n.ID, func(n *Note) error { n.Stars++; return nil })
			return err
		}},
		{"`Upsert`", func(ctx context.Context, s *service, _ *Note) error { return s.notes.In("acme").Upsert(ctx, &Note{}) }},
		{"`Delete`", func(ctx context.Context, s *service, _ *Note) error {
			return s.people.In("acme").Delete(ctx, "ada", nil)
		}},
		{"`Create` of a child", func(ctx context.Context, s *service, n *Note) error {
			return s.comments.Under(n).Create(ctx, &Comment{})
		}},
		{"`Delete` of a document that may have children", func(ctx context.Context, s *service, n *Note) error {
			return s.notes.In("acme").Delete(ctx, n.ID, nil)
		}},
		{"erasing a tenant", func(ctx context.Context, s *service, _ *Note) error {
			_, err := s.tenants.Erase(ctx, "acme", nil)
			return err
		}},
	} {
		t.Run(verb.name, func(t *testing.T) {
			t.Parallel()
			row := regexp.MustCompile(`(?m)^\| ([^|]*; |[^|]*, )?` + regexp.QuoteMeta(verb.name) + `[^|]*\| (.*) \|$`).FindStringSubmatch(string(page))
			if row == nil {
				t.Fatal("no row in docs/operations.md")
			}
			var needed []string
			for name := range actions {
				if strings.Contains(row[2], "`.../"+name+"`") {
					needed = append(needed, name)
				}
			}
			if len(needed) == 0 {
				t.Fatalf("no action in %q", row[2])
			}
			for _, missing := range append(needed, "") {
				s := setupOn(t, []emulatortest.Option{emulatortest.Calm()})
				ada := &Person{}
				ada.ID = "ada"
				if err := s.people.In("acme").Create(t.Context(), ada); err != nil {
					t.Fatal(err)
				}
				n := note(t, s.notes.In("acme"), "first", 1)
				role := emulator.Role{Scope: "/", Actions: []string{emulator.ActionReadMetadata}}
				for _, name := range needed {
					if name != missing {
						role.Actions = append(role.Actions, actions[name])
					}
				}
				err := verb.do(t.Context(), limited(t, s.emu.ClientWithRoles(repository.ClientOptions(nil), role)), n)
				if (missing == "") != (err == nil) {
					t.Errorf("without %q of %v: %v", missing, needed, err)
				}
			}
		})
	}
}

// limited is the guide's service over a client, without provisioning.
func limited(t *testing.T, client *azcosmos.Client) *service {
	t.Helper()
	s := &service{client: client}
	app := fx.New(
		fx.NopLogger,
		fx.Supply(client),
		registry.Module(registry.Config{Database: "notes", Containers: []registry.Container{{ID: "lookups", PartitionKey: []string{"/tenantId", "/lookupType"}}}}),
		registry.Entity[Person](),
		registry.Entity[Note](),
		registry.Child[Comment, Note](parented.Cascade),
		registry.Entity[LookupValue](registry.In("lookups")),
		fx.Populate(&s.people, &s.notes, &s.comments, &s.lookups, &s.tenants),
	)
	if err := app.Err(); err != nil {
		t.Fatal(err)
	}
	return s
}
