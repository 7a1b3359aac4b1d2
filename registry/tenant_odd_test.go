package registry_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
)

// Documents that no struct can hold leave with their tenant, and stop nothing.
func TestOddDocumentsLeaveWithTheirTenant(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	e := newEstate(t, emulatortest.New(t).Client(nil))
	must(t, e.notes.In("acme").Create(ctx, &Note{Title: "fine"}))
	container := e.notes.Container()
	odd := []string{
		`"title":5`, `"title":"\ud800"`, `"deletedAt":5`, `"_ops":5,"_op":{}`, `"_deletion":"x","_moved":5,"_links":"y"`, `"parentId":7`,
	}
	for i, members := range odd {
		id := string(rune('a' + i))
		body := `{"id":"` + id + `","tenantId":"acme","entityType":"Note",` + members + `}`
		_, err := container.CreateItem(ctx, azcosmos.NewPartitionKeyString("acme").AppendString("Note"), []byte(body), nil)
		must(t, err)
	}
	stats, err := e.db.Tenants().Stats(ctx, "acme", nil)
	must(t, err)
	if want := int64(len(odd) + 1); stats.Documents != want {
		t.Errorf("%d documents counted, not %d", stats.Documents, want)
	}
	_, out := e.export(t, "acme")
	if want := int64(len(odd) + 1); out.Documents["Note"] != want {
		t.Errorf("%v exported, not %d", out.Documents, want)
	}
	_, err = e.db.Tenants().Erase(ctx, "acme", nil)
	must(t, err)
	if text, _ := e.export(t, "acme"); text != "" {
		t.Errorf("left over: %s", text)
	}
}

func TestAnImportRefusesWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	e := newEstate(t, emulatortest.New(t).Client(nil))
	for name, members := range map[string]string{
		"a number for a text": `"title":5`, "no time": `"deletedAt":"secret"`, "a huge integer": `"x":9007199254740993`, "a lone surrogate": `"title":"\ud800"`,
	} {
		line := `{"id":"a","tenantId":"acme","entityType":"Note",` + members + "}\n"
		_, err := e.db.Tenants().Import(t.Context(), "acme", strings.NewReader(line), nil)
		if !errors.Is(err, repository.ErrInvalid) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
