package registry_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Account has an e-mail address that is unique in its logical partition.
type Account struct {
	tenantitem.TenantItem[Account]
	Email string `json:"email"`
}

func accountsOf(t *testing.T, account *emulatortest.Emulator) (*registry.Tenants, *repository.Repository[Account]) {
	t.Helper()
	plan, err := registry.NewPlan(registry.Config{
		Database: "accounts", Provision: true, Logger: slog.New(slog.DiscardHandler),
		Containers: []registry.Container{{ID: "documents", UniqueKeys: [][]string{{"/email"}}}},
	}, []registry.Declaration{registry.EntityOf[Account]()})
	must(t, err)
	db, err := registry.Open(account.Client(nil), plan)
	must(t, err)
	must(t, db.Prepare(t.Context()))
	accounts, err := registry.RepositoryOf[Account](db)
	must(t, err)
	return db.Tenants(), accounts
}

// Every odd line is reported by its number, the rest is stored, the receipt is
// true, and a second run changes nothing.
func TestEveryLineOfAnImportHasAnOutcome(t *testing.T) {
	t.Parallel()
	line := func(id, rest string) string {
		return `{"id":"` + id + `","tenantId":"acme","entityType":"Account"` + rest + `}`
	}
	long := strings.Repeat("x", 5<<20)
	lines := []struct {
		text          string
		first, second registry.LineOutcome
	}{
		{"\ufeff" + line("a", `,"email":"a@example.com"`), registry.LineCreated, registry.LineUnchanged},
		{line("b", `,"email":"b@example.com"`) + "\r", registry.LineCreated, registry.LineUnchanged},
		{line("a", `,"email":"a@example.com"`), registry.LineUnchanged, registry.LineUnchanged},   // a line twice
		{line("a", `,"email":"other@example.com"`), registry.LineConflict, registry.LineConflict}, // an id twice
		{line("c", `,"email":"c@example.com","ttl":"60"`), registry.LineRefused, registry.LineRefused},
		{line("d", `,"email":"d@example.com","ttl":0`), registry.LineRefused, registry.LineRefused},
		{line("e", `,"email":"b@example.com"`), registry.LineNotUnique, registry.LineNotUnique},
		{"  ", "", ""},
		{"{", registry.LineRefused, registry.LineRefused},
		{"null", registry.LineRefused, registry.LineRefused},
		{line("f", `,"email":"`+long+`"`), registry.LineRefused, registry.LineRefused},
		{"\x00\xff\xfe", registry.LineRefused, registry.LineRefused},
		{line("g", `,"email":"g@example.com","odd":{"a":[1,null]},"_mine":1`), registry.LineCreated, registry.LineUnchanged},
		{line("h", `,"email":"h@example.com","email":"i@example.com"`), registry.LineRefused, registry.LineRefused},
		{strings.Replace(line("i", `,"email":"i@example.com"`), "acme", "globex", 1), registry.LineRefused, registry.LineRefused},
		{line("j", `,"email":7`), registry.LineRefused, registry.LineRefused},
		{line("k", ""), registry.LineCreated, registry.LineUnchanged}, // no e-mail is a value too
		{line("l", ""), registry.LineNotUnique, registry.LineNotUnique},
		{line("m", `,"email":"m@example.com"`), registry.LineCreated, registry.LineUnchanged}, // without an end
	}
	var file strings.Builder
	for i, l := range lines {
		file.WriteString(l.text)
		if i < len(lines)-1 {
			file.WriteByte('\n')
		}
	}
	for name, unkind := range map[string][]emulatortest.Option{"kind": nil, "unkind": {emulatortest.Unkind(7)}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tenants, accounts := accountsOf(t, emulatortest.New(t, unkind...))
			for run := range 2 {
				got := map[int64]registry.ImportedLine{}
				imported, err := tenants.Import(t.Context(), "acme", strings.NewReader(file.String()), &registry.ImportOptions{
					Line: func(l registry.ImportedLine) {
						if _, twice := got[l.Line]; twice {
							t.Errorf("line %d has two outcomes", l.Line)
						}
						got[l.Line] = l
					},
				})
				if !errors.Is(err, repository.ErrConflict) || !errors.Is(err, repository.ErrInvalid) || strings.Contains(err.Error(), "example.com") {
					t.Errorf("run %d: %v", run, err)
				}
				counts := map[registry.LineOutcome]int64{}
				for i, l := range lines {
					want := l.first
					if run == 1 {
						want = l.second
					}
					if o := got[int64(i+1)]; o.Outcome != want || (o.Err == nil) != slices.Contains([]registry.LineOutcome{"", registry.LineCreated, registry.LineUnchanged}, want) {
						t.Errorf("run %d: %v, want %q", run, o, want)
					}
					if want != "" {
						counts[want]++
					}
				}
				have := map[registry.LineOutcome]int64{
					registry.LineCreated: imported.Created, registry.LineUnchanged: imported.Unchanged, registry.LineConflict: imported.ConflictCount,
					registry.LineNotUnique: imported.NotUnique, registry.LineRefused: imported.Refused,
				}
				maps.DeleteFunc(have, func(_ registry.LineOutcome, n int64) bool { return n == 0 })
				if !maps.Equal(have, counts) || imported.Lines != int64(len(lines)) {
					t.Errorf("run %d: the receipt is %v of %d lines, want %v", run, have, imported.Lines, counts)
				}
				if n, err := accounts.In("acme").Count(t.Context(), repository.All()); err != nil || n != 5 {
					t.Errorf("run %d: %d documents, %v", run, n, err)
				}
			}
		})
	}
}

func TestAnImportKeepsToItsCeiling(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tenants, _ := accountsOf(t, emulatortest.New(t))
		var file strings.Builder
		for i := range 900 {
			fmt.Fprintf(&file, `{"id":"%d","tenantId":"acme","entityType":"Account","email":"%d"}`+"\n", i, i)
		}
		var progress []int64
		began := time.Now()
		imported, err := tenants.Import(t.Context(), "acme", strings.NewReader(file.String()), &registry.ImportOptions{
			RequestUnitsPerSecond: 1000, Progress: func(p registry.TenantProgress) { progress = append(progress, p.Documents) },
		})
		must(t, err)
		took := time.Since(began).Seconds()
		t.Logf("%.0f RU in %.1f s", imported.RequestUnits, took)
		// The first second's units and the last request's may be spent at once.
		if least := (imported.RequestUnits - 3000) / 1000; took < least || took > least+4 {
			t.Errorf("it took %.1f s", took)
		}
		if !slices.Equal(progress, []int64{500, 900}) {
			t.Errorf("progress %v", progress)
		}
	})
}

// A tenant is copied to another one's name: ids and references stay.
func TestATenantIsCloned(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	e := newEstate(t, emulatortest.Client(t, emulatortest.WithPartitions(3), emulatortest.Calm())) // it compares documents as they are stored
	e.fill(t, "acme", 60)
	var file bytes.Buffer
	tenants := e.db.Tenants()
	exported, err := tenants.Export(ctx, "acme", &file, &registry.ExportOptions{Gzip: true})
	must(t, err)
	zipped := file.Bytes()
	imported, err := tenants.Import(ctx, "copy", bytes.NewReader(zipped), &registry.ImportOptions{From: "acme"})
	must(t, err)
	if imported.Created != 60 {
		t.Fatalf("%+v", imported)
	}
	again, err := tenants.Import(ctx, "copy", bytes.NewReader(zipped), &registry.ImportOptions{From: "acme"})
	must(t, err)
	if again.Unchanged != 60 || again.Digest != imported.Digest || again.Digest == exported.Digest {
		t.Errorf("%+v", again)
	}
	original, _ := e.export(t, "acme")
	copied, _ := e.export(t, "copy")
	bodies := func(text string) []string { // without the tenant, whose place in a document may be another
		lines := strings.Split(text, "\n")
		for i, l := range lines {
			for _, tenant := range []string{"acme", "copy"} {
				l = strings.Replace(l, `"tenantId":"`+tenant+`",`, "", 1)
			}
			lines[i] = l
		}
		slices.Sort(lines)
		return lines
	}
	if !slices.Equal(bodies(original), bodies(copied)) {
		t.Error("the copy is another one")
	}
	comment, err := e.comments.In("copy").First(ctx, repository.All())
	must(t, err)
	if _, err := e.notes.In("copy").Get(ctx, string(comment.ParentID)); err != nil {
		t.Errorf("the parent of a copied comment: %v", err)
	}
	// The lines are acme's, and nobody else's.
	if _, err := tenants.Import(ctx, "copy", bytes.NewReader(zipped), nil); !errors.Is(err, repository.ErrTenantMismatch) {
		t.Errorf("under a tenant that the lines do not name: %v", err)
	}
}
