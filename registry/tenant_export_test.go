package registry_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/tenantitem"
)

func TestAnExportHasParentsFirst(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	e := newEstate(t, emulatortest.Client(t, emulatortest.WithPartitions(3), emulatortest.Calm())) // it writes around the repositories
	e.fill(t, "acme", 60)
	_, err := e.notes.Container().CreateItem(ctx, azcosmos.NewPartitionKeyString("acme").AppendString("AAA"), []byte(`{"id":"x","tenantId":"acme","entityType":"AAA"}`), nil)
	must(t, err)
	var out bytes.Buffer
	exported, err := e.db.Tenants().Export(ctx, "acme", &out, nil)
	must(t, err)
	var order []string
	for line := range strings.Lines(out.String()) {
		var head struct{ EntityType string }
		must(t, json.Unmarshal([]byte(line), &head))
		if len(order) == 0 || order[len(order)-1] != head.EntityType {
			order = append(order, head.EntityType)
		}
	}
	if want := []string{"Lookup", "Note", "Comment", "AAA"}; !slices.Equal(order, want) && !slices.Equal(order, []string{"Note", "Lookup", "Comment", "AAA"}) {
		t.Errorf("the order is %v", order)
	}
	digest, err := e.db.Tenants().Digest(ctx, "acme")
	must(t, err)
	if digest != exported.Digest {
		t.Errorf("the digest is %s, the export's %s", digest, exported.Digest)
	}
	// One document more, less or changed is another digest.
	must(t, e.notes.In("acme").Create(ctx, &Note{}))
	if more, err := e.db.Tenants().Digest(ctx, "acme"); err != nil || more == digest {
		t.Errorf("with one more: %s, %v", more, err)
	}
}

// An export that was stopped, wherever, goes on with what its file holds, and
// the whole file has each document once.
func TestAnExportGoesOn(t *testing.T) {
	t.Parallel()
	e := newEstate(t, emulatortest.Client(t, emulatortest.WithPartitions(3), emulatortest.Calm())) // it compares exports to the byte
	e.fill(t, "acme", 1300)
	tenants := e.db.Tenants()
	want, _ := e.export(t, "acme")
	for name, options := range map[string]registry.ExportOptions{"plain": {}, "zipped": {Gzip: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "acme.jsonl")
			whole, err := os.Create(path)
			must(t, err)
			first, err := tenants.ExportFile(t.Context(), "acme", whole, &options)
			must(t, err)
			must(t, whole.Close())
			raw, err := os.ReadFile(path)
			must(t, err)
			for _, cut := range []int{0, 1, 9, len(raw) / 3, len(raw) / 2, len(raw) - 20, len(raw) - 1, len(raw)} {
				must(t, os.WriteFile(path, raw[:cut], 0o600))
				file, err := os.OpenFile(path, os.O_RDWR, 0)
				must(t, err)
				exported, err := tenants.ExportFile(t.Context(), "acme", file, &options)
				must(t, err)
				must(t, file.Close())
				if exported.Digest != first.Digest || exported.Bytes != first.Bytes || cut == len(raw) && exported.Resumed != 1300 || cut == len(raw)/2 && exported.Resumed == 0 {
					t.Errorf("cut at %d of %d: %+v", cut, len(raw), exported)
				}
				if got := linesOf(t, path); got != want {
					t.Errorf("cut at %d of %d: the file has %d bytes of lines, want %d", cut, len(raw), len(got), len(want))
				}
			}
			// A process whose context ends leaves what it has.
			ctx, cancel := context.WithCancel(t.Context())
			stopping := options
			stopping.Progress = func(registry.TenantProgress) { cancel() }
			file, err := os.Create(path)
			must(t, err)
			partly, err := tenants.ExportFile(ctx, "acme", file, &stopping)
			if !errors.Is(err, context.Canceled) || partly.Documents["Note"] == 0 {
				t.Errorf("stopped: %+v, %v", partly, err)
			}
			rest, err := tenants.ExportFile(t.Context(), "acme", file, &options)
			must(t, err)
			must(t, file.Close())
			if rest.Resumed == 0 || linesOf(t, path) != want {
				t.Errorf("gone on: %+v", rest)
			}
		})
	}
}

// Debit and Credit are of one account, each in a container of its own.
type Debit struct {
	tenantitem.TenantItem[Debit]
	Account string `json:"account"`
}

type Credit struct {
	tenantitem.TenantItem[Credit]
	Account string `json:"account"`
}

// An export that goes on misses no document that has the id and the key of one in another container, which was written before.
func TestAnExportTellsContainersApart(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	key := []string{"/tenantId", "/account"}
	plan := newPlan(t, registry.Config{Database: "ledger", Provision: true, Containers: []registry.Container{{ID: "credits", PartitionKey: key}, {ID: "debits", PartitionKey: key}}},
		registry.EntityOf[Credit](registry.In("credits")), registry.EntityOf[Debit](registry.In("debits")))
	db, err := registry.Open(emulatortest.Client(t, emulatortest.Calm()), plan) // it compares exports to the byte
	must(t, err)
	must(t, db.Prepare(ctx))
	credits, err := registry.RepositoryOf[Credit](db)
	must(t, err)
	debits, err := registry.RepositoryOf[Debit](db)
	must(t, err)
	for _, id := range []string{"1", "2"} {
		credit, debit := &Credit{}, &Debit{}
		credit.ID, debit.ID = id, id
		must(t, credits.In("acme", "cash").Create(ctx, credit))
		must(t, debits.In("acme", "cash").Create(ctx, debit))
	}
	// Documents that are not registered stand in both, too.
	for _, container := range []string{"credits", "debits"} {
		c, _ := db.Container(container)
		_, err := c.CreateItem(ctx, azcosmos.NewPartitionKeyString("acme").AppendString("cash"), []byte(`{"id":"3","tenantId":"acme","entityType":"Other","account":"cash"}`), nil)
		must(t, err)
	}
	for name, options := range map[string]registry.ExportOptions{"plain": {}, "zipped": {Gzip: true}} {
		path := filepath.Join(t.TempDir(), "acme.jsonl")
		file, err := os.Create(path)
		must(t, err)
		whole, err := db.Tenants().ExportFile(ctx, "acme", file, &options)
		must(t, err)
		want := linesOf(t, path)
		if lines := strings.Count(want, "\n") + 1; lines != 6 {
			t.Fatalf("%s: %d lines", name, lines)
		}
		if !options.Gzip {
			raw, err := os.ReadFile(path)
			must(t, err)
			must(t, file.Truncate(int64(bytes.IndexByte(raw, '\n')+1)))
		}
		again, err := db.Tenants().ExportFile(ctx, "acme", file, &options)
		must(t, err)
		must(t, file.Close())
		if got := linesOf(t, path); got != want || again.Digest != whole.Digest {
			t.Errorf("%s: gone on, the file holds\n%s\ninstead of\n%s", name, got, want)
		}
	}
}

// linesOf gives the lines of a file, zipped or not, sorted.
func linesOf(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	must(t, err)
	if bytes.HasPrefix(raw, []byte{0x1f, 0x8b}) {
		zipped, err := gzip.NewReader(bytes.NewReader(raw))
		must(t, err)
		raw, err = io.ReadAll(zipped)
		must(t, err)
	}
	lines := strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
