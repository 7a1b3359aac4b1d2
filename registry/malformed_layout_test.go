package registry_test

import (
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository/layout"
)

// storedForm is a form in which an estate's documents are stored, and how another
// writer stores one there.
type storedForm struct {
	containers []registry.Container
	declared   []registry.Declaration
	// notes, comments and others are the layouts by which another writer stores
	// documents of those types and of all other types.
	notes, comments, others formWriter
	// untyped says that documents without a type are notes.
	untyped bool
	// shared says that entity types share logical partitions, as tenants don't.
	shared bool
	// byID says that tenants share the space of ids.
	byID bool
}

// formWriter stores documents in the form of one layout.
type formWriter struct {
	names    map[string]string
	envelope string
	prefix   string
	// complete adds what the key is made of, and tells the key.
	complete func(tenant string, canonical, stored map[string]json.RawMessage) azcosmos.PartitionKey
}

// storedForms are Grove's own form and three of others.
func storedForms() map[string]storedForm {
	ownKey := func(tenant string, canonical, _ map[string]json.RawMessage) azcosmos.PartitionKey {
		return azcosmos.NewPartitionKeyString(tenant).AppendString(textIn(canonical["entityType"]))
	}
	own := formWriter{complete: ownKey}
	lookups := registry.Container{ID: "lookups", PartitionKey: []string{"/tenantId", "/lookupType"}}

	snake := map[string]string{
		"tenantId": "tenant_id", "entityType": "type", "deletedAt": "deleted_at", "title": "Title", "_ops": "ops", "_op": "op",
		"_deletion": "deletion", "_moved": "moved", "_links": "links", "_moving": "moving", "_counted": "counted",
	}
	snakeOf := func(more map[string]string) map[string]string {
		names := map[string]string{}
		for _, from := range []map[string]string{snake, more} {
			for name, to := range from {
				names[name] = to
			}
		}
		return names
	}
	snakeNotes, snakeComments := snakeOf(nil), snakeOf(map[string]string{"parentId": "parent_id"})
	delete(snakeComments, "title")
	byTenant := func(tenant string, _, _ map[string]json.RawMessage) azcosmos.PartitionKey {
		return azcosmos.NewPartitionKeyString(tenant)
	}

	enveloped := map[string]string{"tenantId": "org", "entityType": "kind"}
	byParent := func(tenant string, canonical, stored map[string]json.RawMessage) azcosmos.PartitionKey {
		parent := textIn(canonical["parentId"])
		stored["pk"] = rawText(tenant + "/" + parent)
		return azcosmos.NewPartitionKeyString(tenant + "/" + parent)
	}
	nested := func(tenant string, _, stored map[string]json.RawMessage) azcosmos.PartitionKey {
		stored["owner"] = json.RawMessage(`{"org":` + string(rawText(tenant)) + `,"more":true}`)
		return azcosmos.NewPartitionKeyString(tenant)
	}
	byID := func(_ string, _, stored map[string]json.RawMessage) azcosmos.PartitionKey {
		return azcosmos.NewPartitionKeyString(textIn(stored["id"]))
	}
	untyped := map[string]string{"tenantId": "orgId", "entityType": "entity_type"}

	return map[string]storedForm{
		"Grove's": {
			containers: []registry.Container{lookups},
			declared:   []registry.Declaration{registry.EntityOf[Note](registry.SoftDelete(time.Hour)), registry.ChildOf[Comment, Note](parented.Cascade), registry.EntityOf[Lookup](registry.In("lookups"))},
			notes:      own, comments: own, others: own,
		},
		"snake case": {
			containers: []registry.Container{{ID: "App", PartitionKey: []string{"/tenant_id"}}, lookups},
			declared: []registry.Declaration{
				registry.EntityOf[Note](registry.In("App"), registry.SoftDelete(time.Hour), registry.WithLayout(layout.Layout{Names: snakeNotes})),
				registry.ChildOf[Comment, Note](parented.Cascade, registry.In("App"), registry.WithLayout(layout.Layout{Names: snakeComments})),
				registry.EntityOf[Lookup](registry.In("lookups")),
			},
			notes: formWriter{names: snakeNotes, complete: byTenant}, comments: formWriter{names: snakeComments, complete: byTenant}, others: formWriter{names: snakeNotes, complete: byTenant}, shared: true,
		},
		"envelopes and prefixes": {
			containers: []registry.Container{{ID: "App", PartitionKey: []string{"/owner/org"}}, {ID: "comments", PartitionKey: []string{"/pk"}}, lookups},
			declared: []registry.Declaration{
				registry.EntityOf[Note](registry.In("App"), registry.SoftDelete(time.Hour), registry.WithLayout(layout.Layout{
					Key: []layout.KeySource{layout.FromTenant()}, Names: enveloped, Envelope: "value", IDPrefix: "Note|",
				})),
				registry.ChildOf[Comment, Note](parented.Cascade, registry.In("comments"), registry.WithLayout(layout.Layout{
					Key: []layout.KeySource{layout.Format("%s/%v", "tenantId", "parentId")}, Names: enveloped, Envelope: "value",
				})),
				registry.EntityOf[Lookup](registry.In("lookups")),
			},
			notes:    formWriter{names: enveloped, envelope: "value", prefix: "Note|", complete: nested},
			comments: formWriter{names: enveloped, envelope: "value", complete: byParent},
			others:   formWriter{names: enveloped, prefix: "other-", complete: nested},
		},
		"the id as the key, some without a type": {
			containers: []registry.Container{{ID: "App", PartitionKey: []string{"/id"}}, lookups},
			declared: []registry.Declaration{
				registry.EntityOf[Note](registry.In("App"), registry.SoftDelete(time.Hour), registry.WithLayout(layout.Layout{Names: untyped, Untyped: layout.SomeUntyped})),
				registry.ChildOf[Comment, Note](parented.Cascade, registry.In("App"), registry.WithLayout(layout.Layout{Names: untyped})),
				registry.EntityOf[Lookup](registry.In("lookups")),
			},
			notes: formWriter{names: untyped, complete: byID}, comments: formWriter{names: untyped, complete: byID}, others: formWriter{names: untyped, complete: byID}, untyped: true, byID: true,
		},
	}
}

func byTenant(tenant string, _, _ map[string]json.RawMessage) azcosmos.PartitionKey {
	return azcosmos.NewPartitionKeyString(tenant)
}

// plan is that of an estate in this form.
func (f storedForm) plan() (*registry.Plan, error) {
	return registry.NewPlan(registry.Config{Database: "estate", Provision: true, Logger: slog.New(slog.DiscardHandler), Containers: f.containers}, f.declared)
}

func (f storedForm) open(t testing.TB, client *azcosmos.Client) estate {
	t.Helper()
	plan, err := f.plan()
	must(t, err)
	var e estate
	e.db, err = registry.Open(client, plan)
	must(t, err)
	must(t, e.db.Prepare(t.Context()))
	e.notes, err = registry.RepositoryOf[Note](e.db)
	must(t, err)
	e.comments, err = registry.ChildrenOf[Comment, Note](e.db)
	must(t, err)
	e.lookups, err = registry.RepositoryOf[Lookup](e.db)
	must(t, err)
	return e
}

// placed is a document of another writer's.
type placed struct {
	container *azcosmos.ContainerClient
	key       azcosmos.PartitionKey
	id        string // as stored
	stored    map[string]any
	etag      string
}

// put stores a document as another writer would, whose members have Grove's
// names here.
func (f storedForm) put(t testing.TB, e estate, tenant, id, members string) placed {
	t.Helper()
	canonical := map[string]json.RawMessage{}
	must(t, json.Unmarshal([]byte(`{"id":"`+id+`","tenantId":"`+tenant+`",`+members+`}`), &canonical))
	w, container := f.others, e.notes.Container()
	switch textIn(canonical["entityType"]) {
	case "":
		if f.untyped {
			w = f.notes
		}
	case "Note":
		w = f.notes
	case "Comment":
		w, container = f.comments, e.comments.Items().Container()
	}
	p := placed{id: w.prefix + id}
	stored, envelope := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	for name, v := range canonical {
		to := name
		if renamed, ok := w.names[name]; ok {
			to = renamed
		}
		switch {
		case name == "id":
			stored["id"] = rawText(p.id)
		case w.envelope == "" || name[0] == '_' || name == "tenantId" || name == "entityType" || name == "deletedAt":
			stored[to] = v
		default:
			envelope[to] = v
		}
	}
	if w.envelope != "" {
		stored[w.envelope] = marshal(t, envelope)
	}
	p.container = container
	if canonical["entityType"] == nil && len(f.others.names) == 0 { // the key of Grove's form has the type
		p.container, p.key = e.lookups.Container(), azcosmos.NewPartitionKeyString(tenant).AppendString("other")
		stored["lookupType"] = rawText("other")
	} else {
		p.key = w.complete(tenant, canonical, stored)
	}
	answer, err := p.container.CreateItem(t.Context(), p.key, marshal(t, stored), &azcosmos.ItemOptions{EnableContentResponseOnWrite: true})
	must(t, err)
	p.etag = string(answer.ETag)
	must(t, json.Unmarshal(answer.Value, &p.stored))
	return p
}

// read returns the document as it is now; false where it is gone.
func (p placed) read(t testing.TB) (map[string]any, bool) {
	t.Helper()
	item, err := p.container.ReadItem(t.Context(), p.key, p.id, nil)
	if err != nil {
		return nil, false
	}
	var now map[string]any
	must(t, json.Unmarshal(item.Value, &now))
	return now, true
}

func marshal(t testing.TB, v any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(v)
	must(t, err)
	return raw
}

// textIn is a JSON text; "" is none.
func textIn(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s)
	return s
}

func rawText(s string) json.RawMessage {
	raw, _ := json.Marshal(s)
	return raw
}
