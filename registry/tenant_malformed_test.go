package registry_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
)

// malformedDocuments are what other writers may have left, by id: members of a note.
func malformedDocuments() map[string]string {
	return map[string]string{
		"a-number-as-title":   `"entityType":"Note","title":5`,
		"a-lone-surrogate":    `"entityType":"Note","title":"\ud800"`,
		"deleted-at-a-number": `"entityType":"Note","deletedAt":170000000`,
		"deleted-at-no-time":  `"entityType":"Note","deletedAt":"yesterday"`,
		"marks-of-others":     `"entityType":"Note","_ops":5,"_op":{}`,
		"a-foreign-deletion":  `"entityType":"Note","_deletion":"x","_moved":5,"_links":"y"`,
		"a-foreign-member":    `"entityType":"Note","_mine":{"a":[1]},"__x":null`,
		"a-number-as-parent":  `"entityType":"Comment","parentId":7`,
		"no-parent":           `"entityType":"Comment"`,
		"a-foreign-type":      `"entityType":"Invoice","amount":1`,
		"a-type-of-spaces":    `"entityType":"  ","amount":1`,
		"no-type":             `"lookupType":"other","amount":1`,
	}
}

// Documents that something else wrote break only themselves, in Grove's form and
// in those of others: verbs name them by id, and export, import, statistics and
// erasure take them along.
func TestMalformedDocuments(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]emulatortest.Option{"kind": {emulatortest.Calm()}, "unkind": {emulatortest.Unkind(3)}} {
		for layout, form := range storedForms() {
			t.Run(name+"/"+layout, func(t *testing.T) {
				t.Parallel()
				testMalformedDocuments(t, form, form.open(t, emulatortest.New(t, opts...).Client(nil)))
			})
		}
	}
}

func testMalformedDocuments(t *testing.T, form storedForm, e estate) {
	ctx := t.Context()
	fine := &Note{Title: "fine"}
	must(t, e.notes.In("acme").Create(ctx, fine))
	malformed, ids := malformedDocuments(), map[string]string{}
	want := map[string]int64{"Note": 8, "Comment": 2, "Invoice": 1, "  ": 1, "": 1}
	for id, members := range malformed {
		ids[form.put(t, e, "acme", id, members).id] = id
	}
	if form.untyped {
		want["Note"]++
		delete(want, "")
	}
	total := int64(len(malformed) + 1)
	t.Run("verbs", func(t *testing.T) { e.verbsOnMalformed(t, form, malformed, fine) })

	tenants := e.db.Tenants()
	stats, err := tenants.Stats(ctx, "acme", nil)
	must(t, err)
	if stats.Documents != total {
		t.Errorf("%d documents counted, not %d", stats.Documents, total)
	}
	var file bytes.Buffer
	exported, err := tenants.Export(ctx, "acme", &file, nil)
	must(t, err)
	if !maps.Equal(exported.Documents, want) {
		t.Errorf("exported %v, want %v", exported.Documents, want)
	}
	plan, err := tenants.PlanErase(ctx, "acme", registry.RefersTo("no-type", "other-no-type", "a-lone-surrogate"))
	must(t, err)
	if n := plan.Removed[""] + plan.Removed["Note"]; n != 2 {
		t.Errorf("planned: %+v", plan)
	}
	erased, err := tenants.Erase(ctx, "acme", nil)
	must(t, err)
	if !maps.Equal(erased.Removed, exported.Documents) {
		t.Errorf("erased %v", erased.Removed)
	}
	after, err := tenants.Stats(ctx, "acme", nil)
	must(t, err)
	if after.Documents != 0 {
		t.Errorf("left: %+v", after)
	}

	// Without being asked to, an import takes what fits, and names the rest.
	named := map[string]bool{}
	imported, err := tenants.Import(ctx, "acme", bytes.NewReader(file.Bytes()), &registry.ImportOptions{Line: func(l registry.ImportedLine) {
		if l.Err != nil {
			named[ids[l.ID]] = true
		}
	}})
	if !errors.Is(err, repository.ErrInvalid) || imported.Created+imported.Refused != total {
		t.Errorf("%+v, %v", imported, err)
	}
	for _, id := range []string{"a-number-as-title", "deleted-at-a-number", "a-foreign-type", "no-type", "a-number-as-parent"} {
		if !named[id] && (id != "no-type" || !form.untyped) {
			t.Errorf("%s was not named", id)
		}
	}
	// Asked to, it brings back everything as it was, but for texts that are none and keys that Grove can't write.
	var refused []string
	container := e.notes.Container().ID()
	imported, err = tenants.Import(ctx, "acme", bytes.NewReader(file.Bytes()), &registry.ImportOptions{AsStored: true, Container: container, Line: func(l registry.ImportedLine) {
		if l.Err != nil {
			refused = append(refused, ids[l.ID])
		}
	}})
	if imported.Created+imported.Unchanged+imported.Refused != total || len(refused) > 3 || (err == nil) != (len(refused) == 0) {
		t.Errorf("%+v, refused %v, %v", imported, refused, err)
	}
	t.Logf("as stored: %d of %d come back, refused are %v", imported.Created+imported.Unchanged, total, refused)
	_, err = tenants.Erase(ctx, "acme", nil)
	must(t, err)
}

// verbsOnMalformed: a verb on a malformed document says which it is, or works; none stops
// the others.
func (e estate) verbsOnMalformed(t *testing.T, form storedForm, malformed map[string]string, fine *Note) {
	ctx := t.Context()
	notes := e.notes.In("acme")
	for id, members := range malformed {
		if typeIn(members) != "Note" && (!form.untyped || typeIn(members) != "") {
			if _, err := notes.Get(ctx, id); !errors.Is(err, repository.ErrNotFound) && !errors.Is(err, repository.ErrEntityMismatch) {
				t.Errorf("Get %s: %v", id, err)
			}
			continue
		}
		for verb, do := range map[string]func() error{
			"Get":    func() error { _, err := notes.Get(ctx, id); return err },
			"Mutate": func() error { _, err := notes.Mutate(ctx, id, func(*Note) error { return errStay }); return err },
			"GetMany": func() error {
				_, err := notes.GetMany(ctx, id)
				return err
			},
		} {
			if err := do(); err != nil && !errors.Is(err, errStay) && !strings.Contains(err.Error(), id) && !errors.Is(err, repository.ErrNotFound) {
				t.Errorf("%s %s does not name it: %v", verb, id, err)
			}
		}
	}
	seen, named := map[string]bool{}, map[string]bool{}
	for note, err := range notes.Query(ctx, repository.All()) {
		var decode *repository.DecodeError
		switch {
		case errors.As(err, &decode):
			named[decode.ID] = true
		case err != nil:
			t.Fatalf("the query ended: %v", err)
		default:
			seen[note.ID] = true
		}
	}
	if !seen[fine.ID] || !named["a-number-as-title"] {
		t.Errorf("the query saw %v and named %v", seen, named)
	}
	if got, err := notes.Get(ctx, fine.ID); err != nil || got.Title != "fine" {
		t.Errorf("the one that is fine: %v, %v", got, err)
	}
	for comment, err := range e.comments.In("acme").Query(ctx, repository.All()) {
		var decode *repository.DecodeError
		if err != nil && !errors.As(err, &decode) {
			t.Errorf("comments: %v, %v", comment, err)
		}
	}
	if _, err := e.db.Forest().Resume(ctx); err != nil && !strings.Contains(err.Error(), "a-") && !strings.Contains(err.Error(), "deleted") {
		t.Errorf("unfinished deletes: %v", err)
	}
}

var errStay = errors.New("leave it as it is")

func TestAnImportRefusesWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	e := newEstate(t, emulatortest.New(t).Client(nil))
	for name, members := range map[string]string{
		"a number for a text": `"title":5`, "no time": `"deletedAt":"secret"`, "a huge integer": `"x":9007199254740993`, "a lone surrogate": `"title":"\ud800"`,
	} {
		line := `{"id":"a","tenantId":"acme","entityType":"Note",` + members + "}\n"
		_, err := e.db.Tenants().Import(context.WithoutCancel(t.Context()), "acme", strings.NewReader(line), nil)
		if !errors.Is(err, repository.ErrInvalid) || strings.Contains(fmt.Sprint(err), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
