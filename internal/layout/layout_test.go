package layout_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/internal/layout"
)

func must(t testing.TB, o layout.Options) *layout.Layout {
	t.Helper()
	l, err := layout.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// The layouts of containers that others made, and what stands there.
var others = map[string]struct {
	options           layout.Options
	stored, canonical string
}{
	"snake case": {
		layout.Options{
			Names:  map[string]string{"tenantId": "tenant_id", "entityType": "type", "deletedAt": "deleted_at"},
			Levels: []layout.Level{{Path: []string{"tenant_id"}, Source: layout.Source{Kind: layout.FromTenant}}},
		},
		`{"id":"1","tenant_id":"acme","type":"note","deleted_at":null,"tenantId":7,"x":[1]}`,
		`{"id":"1","tenantId":"acme","entityType":"note","deletedAt":null,"x":[1],"_outside":{"tenantId":7}}`,
	},
	"envelope": {
		layout.Options{
			Names:    map[string]string{"tenantId": "partitionKey", "entityType": "resourceType"},
			Envelope: "properties", Outside: []string{"resourceID"},
			Levels: []layout.Level{{Path: []string{"partitionKey"}, Source: layout.Source{Kind: layout.FromTenant}}},
		},
		`{"id":"a|b","partitionKey":"sub","resourceType":"x","resourceID":"/a/b","extra":1,"_etag":"e","properties":{"name":"n","id":"inner"}}`,
		`{"id":"a|b","tenantId":"sub","entityType":"x","resourceID":"/a/b","_etag":"e","name":"n","_outside":{"extra":1},"_inside":{"id":"inner"}}`,
	},
	"prefixed id and computed key": {
		layout.Options{
			IDPrefix: "Note|", Names: map[string]string{"entityType": "$type"},
			Levels: []layout.Level{{Path: []string{"partitionKey"}, Source: layout.Format("%s-%.10s", "tenantId", "at")}},
		},
		`{"id":"Note|42","$type":"Note","tenantId":"acme","at":"2026-01-02T03:04:05.0000000Z","partitionKey":"acme-2026-01-02"}`,
		`{"id":"42","entityType":"Note","tenantId":"acme","at":"2026-01-02T03:04:05.0000000Z"}`,
	},
	"no tenant, no type, the id twice": {
		layout.Options{
			EntityType: "customer", Global: true, Typeless: true,
			Levels: []layout.Level{{Path: []string{"customerId"}, Source: layout.Source{Kind: layout.FromField, Field: "id"}}},
		},
		`{"id":"c1","customerId":"c1","name":"n"}`,
		`{"id":"c1","name":"n","entityType":"customer"}`,
	},
	"a nested key of a constant": {
		layout.Options{Levels: []layout.Level{{Path: []string{"meta", "kind"}, Source: layout.Source{Kind: layout.Constant, Value: "k"}}}},
		`{"id":"1","tenantId":"t","entityType":"e","meta":{"other":1,"kind":"k"}}`,
		`{"id":"1","tenantId":"t","entityType":"e","meta":{"other":1,"kind":"k"}}`,
	},
}

func TestDocumentsThereAndBack(t *testing.T) {
	t.Parallel()
	for name, c := range others {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := must(t, c.options)
			canonical, err := l.Canonical([]byte(c.stored))
			if err != nil {
				t.Fatal(err)
			}
			sameJSON(t, "canonical", canonical, c.canonical)
			back, err := l.Stored(canonical)
			if err != nil {
				t.Fatal(err)
			}
			sameJSON(t, "stored again", back, c.stored)
		})
	}
}

func sameJSON(t testing.TB, what string, have []byte, want string) {
	t.Helper()
	var a, b any
	if err := json.Unmarshal(have, &a); err != nil {
		t.Fatalf("%s: %v in %s", what, err, have)
	}
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%s:\nhave %s\nwant %s", what, have, want)
	}
}

// Whatever another writer put into a document, reading and writing it back
// changes nothing.
func TestNoMemberOfOthersIsLost(t *testing.T) {
	t.Parallel()
	names := []string{"id", "tenantId", "tenant_id", "entityType", "$type", "deletedAt", "value", "name", "n", "_outside", "_inside", "_stored", "_ops", "_custom", "ttl", "a\"b", "ü", "other"}
	options := []layout.Options{
		{Names: map[string]string{"tenantId": "tenant_id", "entityType": "$type", "name": "n"}},
		{Names: map[string]string{"tenantId": "tenant_id", "name": "n"}, Envelope: "value", Typeless: true, EntityType: "E"},
		{Names: map[string]string{"_ops": "marks"}, Envelope: "value", Outside: []string{"name"}, Global: true},
		{Names: map[string]string{"tenantId": "entityType", "entityType": "tenantId"}, NoMarks: true},
		{Names: map[string]string{"name": "other", "other": "name"}, Envelope: "n"},
	}
	rapid.Check(t, func(r *rapid.T) {
		l := must(t, rapid.SampledFrom(options).Draw(r, "options"))
		doc := object(r, names, 2)
		doc["id"] = "x"
		raw, err := json.Marshal(doc)
		if err != nil {
			r.Fatal(err)
		}
		canonical, err := l.Canonical(raw)
		if err != nil {
			r.Fatal(err)
		}
		back, err := l.Stored(canonical)
		if err != nil {
			r.Fatal(err)
		}
		var have map[string]any
		if err := json.Unmarshal(back, &have); err != nil {
			r.Fatalf("%v in %s", err, back)
		}
		if v, ok := have["value"].(map[string]any); ok && len(v) == 0 && doc["value"] == nil {
			delete(have, "value") // an envelope that was missing is empty
		}
		if v, ok := have["n"].(map[string]any); ok && len(v) == 0 && doc["n"] == nil {
			delete(have, "n")
		}
		if !reflect.DeepEqual(have, doc) {
			r.Fatalf("stored    %s\ncanonical %s\nagain     %s", raw, canonical, back)
		}
	})
}

func object(r *rapid.T, names []string, depth int) map[string]any {
	doc := map[string]any{}
	for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID[string]).Draw(r, "members") {
		if depth > 0 && rapid.Bool().Draw(r, "object") {
			doc[name] = object(r, names, depth-1)
			continue
		}
		doc[name] = rapid.SampledFrom([]any{"text", 1.5, true, []any{"a"}}).Draw(r, "value")
	}
	return doc
}

func TestKeysThatAreNotTheRegistered(t *testing.T) {
	t.Parallel()
	l := must(t, others["prefixed id and computed key"].options)
	for name, raw := range map[string]string{
		"another key":    `{"id":"Note|42","tenantId":"acme","at":"2026-01-02","partitionKey":"acme"}`,
		"no key":         `{"id":"Note|42","tenantId":"acme","at":"2026-01-02"}`,
		"no field of it": `{"id":"Note|42","tenantId":"acme","partitionKey":"acme-2026-01-02"}`,
		"another prefix": `{"id":"Task|42","tenantId":"acme","at":"2026-01-02","partitionKey":"acme-2026-01-02"}`,
		"only a prefix":  `{"id":"Note|","tenantId":"acme","at":"2026-01-02","partitionKey":"acme-2026-01-02"}`,
	} {
		var misplaced *layout.MisplacedError
		if _, err := l.Canonical([]byte(raw)); !errors.As(err, &misplaced) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var missing *layout.MissingError
	if _, err := l.Stored([]byte(`{"id":"42","tenantId":"acme"}`)); !errors.As(err, &missing) || missing.Field != "at" {
		t.Errorf("a key without its field: %v", err)
	}
}

func TestContradictions(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]layout.Options{
		"the id renamed":          {Names: map[string]string{"id": "key"}},
		"two of one name":         {Names: map[string]string{"tenantId": "x", "entityType": "x"}},
		"as the id":               {Names: map[string]string{"tenantId": "id"}},
		"as the envelope":         {Envelope: "value", Names: map[string]string{"tenantId": "value"}},
		"no tenant to name":       {Global: true, Names: map[string]string{"tenantId": "org"}},
		"no envelope":             {Outside: []string{"a"}},
		"a slash in the id":       {IDPrefix: "a/"},
		"a key of no tenant":      {Global: true, Levels: []layout.Level{{Path: []string{"pk"}, Source: layout.Source{Kind: layout.FromTenant}}}},
		"a key where the type is": {Names: map[string]string{"entityType": "type"}, Levels: []layout.Level{{Path: []string{"type"}, Source: layout.Source{Kind: layout.FromTenant}}}},
		"a key at the id":         {Levels: []layout.Level{{Path: []string{"id"}, Source: layout.Source{Kind: layout.FromTenant}}}},
		"a key in the envelope":   {Envelope: "value", Levels: []layout.Level{{Path: []string{"value", "x"}, Source: layout.Source{Kind: layout.FromField, Field: "y"}}}},
		"a key of nothing":        {Levels: []layout.Level{{Path: []string{"pk"}, Source: layout.Source{Kind: layout.Computed}}}},
	} {
		if _, err := layout.New(o); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func TestPatch(t *testing.T) {
	t.Parallel()
	l := must(t, layout.Options{Envelope: "properties", NoMarks: true, Names: map[string]string{"deletedAt": "deleted_at", "a/b": "cd"}})
	var ops cosmos.Patch
	ops.Set("/title", "x")
	ops.Add("/tags/-", 1)
	ops.Remove("/deletedAt")
	ops.Increment("/count", -3)
	ops.Set("/a~1b", nil)
	ops.Set("/_op", "mark")
	ops.Condition = `FROM c WHERE c.title = "x" AND NOT IS_DEFINED(c.deletedAt)`
	raw, err := l.Patch(ops).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	sameJSON(t, "patch", raw, `{"condition":"FROM c WHERE c[\"properties\"][\"title\"] = \"x\" AND NOT IS_DEFINED(c[\"deleted_at\"])","operations":[
		{"op":"set","path":"/properties/title","value":"x"},{"op":"add","path":"/properties/tags/-","value":1},{"op":"remove","path":"/deleted_at"},
		{"op":"incr","path":"/properties/count","value":-3},{"op":"set","path":"/properties/cd","value":null}]}`)
}

func FuzzDocuments(f *testing.F) {
	f.Add([]byte(`{"id":"1","value":{"id":2}}`))
	l := must(f, layout.Options{Envelope: "value", IDPrefix: "n|", Names: map[string]string{"tenantId": "t"}})
	f.Fuzz(func(t *testing.T, raw []byte) {
		canonical, _ := l.Canonical(raw)
		if _, err := l.Stored(canonical); err != nil {
			t.Fatal(err)
		}
	})
}
