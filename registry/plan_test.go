package registry_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"pgregory.net/rapid"

	"github.com/cosmosgrove/grove/internal/catalogue"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/tenantitem"
)

// serving is an extension that claims to keep copies.
var serving = extension(catalogue.Extension{Name: "keeper", ServesCopies: true})

func extension(x catalogue.Extension) registry.Extension {
	var public registry.Extension
	catalogue.Fill(&public, x)
	return public
}

func TestContradictionsAreRefused(t *testing.T) {
	t.Parallel()
	lookups := registry.Container{ID: "lookups", PartitionKey: []string{"/tenantId", "/lookupType"}}
	tests := []struct {
		name       string
		cfg        registry.Config
		entities   []registry.Declaration
		extensions []registry.Extension
		want       []string // all of them in the message
	}{
		{"no database", registry.Config{}, nil, nil, []string{"Config.Database", "empty"}},
		{"a quote in the database's id", registry.Config{Database: `a"b`}, nil, nil, []string{"Config.Database"}},
		{"two containers of one id", registry.Config{Database: "d", Containers: []registry.Container{lookups, {ID: "other"}, lookups}}, nil, nil, []string{"Config.Containers[0]", "Config.Containers[2]", `"lookups"`}},
		{"a key without the tenant", registry.Config{Database: "d", Containers: []registry.Container{{ID: "x", PartitionKey: []string{"/region"}}}}, []registry.Declaration{registry.EntityOf[Person](registry.In("x"))}, nil, []string{"/region", "/tenantId", `"x"`, "WithLayout"}},
		{"a key of four levels", registry.Config{Database: "d", Containers: []registry.Container{{ID: "x", PartitionKey: []string{"/tenantId", "/a", "/b", "/c"}}}}, nil, nil, []string{"4 levels"}},
		{"a key path twice", registry.Config{Database: "d", Containers: []registry.Container{{ID: "x", PartitionKey: []string{"/tenantId", "/a", "/a"}}}}, nil, nil, []string{`"/a" twice`}},
		{"a key path without a slash", registry.Config{Database: "d", Containers: []registry.Container{{ID: "x", PartitionKey: []string{"/tenantId", "a"}}}}, nil, nil, []string{`"a"`}},
		{"half a second to live", registry.Config{Database: "d", Containers: []registry.Container{{ID: "x", DefaultTTL: time.Second / 2}}}, nil, nil, []string{"500ms", "whole seconds"}},
		{"a century to live", registry.Config{Database: "d", Containers: []registry.Container{{ID: "x", DefaultTTL: 100 * 365 * 24 * time.Hour}}}, nil, nil, []string{"68 years"}},
		{"two throughputs", registry.Config{Database: "d", Throughput: registry.Throughput{Manual: 400, AutoscaleMax: 1000}}, nil, nil, []string{"Manual and AutoscaleMax"}},
		{"an empty unique key", registry.Config{Database: "d", Containers: []registry.Container{{ID: "x", UniqueKeys: [][]string{{}}}}}, nil, nil, []string{"unique key"}},
		{"a type twice", registry.Config{Database: "d"}, []registry.Declaration{registry.EntityOf[Note](), registry.EntityOf[Note](registry.Named("memo"))}, nil, []string{"registry.Entity[Note]", "plan_test.go:", "the same type"}},
		{"a name twice", registry.Config{Database: "d"}, []registry.Declaration{registry.EntityOf[Note](), registry.EntityOf[Person](registry.Named("Note"))}, nil, []string{"registry.Entity[Note]", "registry.Entity[Person]", `"Note"`}},
		{"an alias that is another's name", registry.Config{Database: "d"}, []registry.Declaration{registry.EntityOf[Note](), registry.EntityOf[Person](registry.Named("person", "Note"))}, nil, []string{"registry.Entity[Note]", "registry.Entity[Person]", `"Note"`}},
		{"an alias twice in one registration", registry.Config{Database: "d"}, []registry.Declaration{registry.EntityOf[Note](registry.Named("note", "note"))}, nil, []string{"registry.Entity[Note]", `"note"`}},
		{"a name that can't stand in a key", registry.Config{Database: "d"}, []registry.Declaration{registry.EntityOf[Note](registry.Named("a/b"))}, nil, []string{"registry.Entity[Note]", "entity type"}},
		{"an unknown container", registry.Config{Database: "d", Containers: []registry.Container{lookups}}, []registry.Declaration{registry.EntityOf[Lookup](registry.In("lookup"))}, nil, []string{"registry.Entity[Lookup]", `"lookup"`, `"lookups"`}},
		{"expiry where it is off", registry.Config{Database: "d", Containers: []registry.Container{{ID: "x", DefaultTTL: registry.TTLOff}}}, []registry.Declaration{registry.EntityOf[Note](registry.In("x"), registry.TTL(time.Hour))}, nil, []string{"registry.Entity[Note]", "Config.Containers[0]", "registry.TTLOn"}},
		{"expiry of no time", registry.Config{Database: "d"}, []registry.Declaration{registry.EntityOf[Note](registry.TTL(0))}, nil, []string{"registry.Entity[Note]", "whole seconds"}},
		{"a copy that nothing keeps", registry.Config{Database: "d"}, []registry.Declaration{registry.EntityOf[Person](), registry.EntityOf[Task]()}, nil, []string{"registry.Entity[Task]", `"assigneeName"`, "denorm.Module"}},
		{"an extension twice", registry.Config{Database: "d"}, nil, []registry.Extension{serving, serving}, []string{"keeper", "twice"}},
		{"an extension's container under another key", registry.Config{Database: "d", Containers: []registry.Container{lookups}}, nil, []registry.Extension{extension(catalogue.Extension{
			Name: "feed", Containers: []catalogue.Container{{ID: "lookups", PartitionKey: []string{"/id"}, By: "feed's leases"}},
		})}, []string{"Config.Containers[0]", "feed's leases", "/id"}},
		{"a child without its parent", registry.Config{Database: "d"}, []registry.Declaration{registry.ChildOf[Comment, Note](parented.Cascade)}, nil, []string{"registry.Child[Comment, Note] (plan_test.go:", "registry.Entity[Note]()"}},
		{"a declaration of no entity", registry.Config{Database: "d"}, []registry.Declaration{{}}, nil, []string{"registry.EntityOf"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := registry.NewPlan(tc.cfg, tc.entities, tc.extensions...)
			if !errors.Is(err, tenantitem.ErrInvalid) {
				t.Fatalf("want an error that is ErrInvalid, got %v", err)
			}
			for _, part := range tc.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
		})
	}
}

func TestKeyPathThatTheEntityLacks(t *testing.T) {
	t.Parallel()
	cfg := registry.Config{Database: "d", Containers: []registry.Container{{ID: "lookups", PartitionKey: []string{"/tenantId", "/lookupTyp"}}}}
	plan, err := registry.NewPlan(cfg, []registry.Declaration{registry.EntityOf[Lookup](registry.In("lookups"))})
	must(t, err)
	_, err = registry.Open(newClient(t), plan)
	if !errors.Is(err, tenantitem.ErrInvalid) {
		t.Fatalf("want ErrInvalid, got %v", err)
	}
	for _, part := range []string{"registry.Entity[Lookup] (plan_test.go:", "Config.Containers[0]", `did you mean "lookupType"?`} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}

func TestCatalogueDoesNotDependOnOrder(t *testing.T) {
	t.Parallel()
	cfg := registry.Config{Database: "d", Containers: []registry.Container{{ID: "lookups", PartitionKey: []string{"/tenantId", "/lookupType"}}}}
	all := []registry.Declaration{
		registry.EntityOf[Person](registry.Named("person", "Human")),
		registry.EntityOf[Note](),
		registry.EntityOf[Task](),
		registry.EntityOf[Lookup](registry.In("lookups")),
	}
	rapid.Check(t, func(t *rapid.T) {
		plan, err := registry.NewPlan(cfg, rapid.Permutation(all).Draw(t, "order"), serving)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range plan.Entities() {
			got = append(got, s.EntityType+" in "+s.Container+" by "+strings.Join(s.PartitionKey, ","))
		}
		want := []string{
			"Lookup in lookups by /tenantId,/lookupType",
			"Note in documents by /tenantId,/entityType",
			"Task in documents by /tenantId,/entityType",
			"person in documents by /tenantId,/entityType",
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got %q", got)
		}
	})
}

func TestTimeToLiveIsOnByDefault(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		given time.Duration
		opts  []registry.Option
		ext   []registry.Extension
		want  time.Duration
	}{
		{"nobody needs it", 0, nil, nil, registry.TTLOn},
		{"nobody needs it and it is off", registry.TTLOff, nil, nil, registry.TTLOff},
		{"an entity type expires", 0, []registry.Option{registry.TTL(time.Minute)}, nil, registry.TTLOn},
		{"it has a default already", time.Hour, []registry.Option{registry.TTL(time.Minute)}, nil, time.Hour},
		{"an extension asks for tombstones", 0, nil, []registry.Extension{extension(catalogue.Extension{Name: "feed", Plan: func(p catalogue.Source) error {
			catalogue.Entities(p)[0].RequireTombstones(time.Hour, "it is counted")
			return nil
		}})}, registry.TTLOn},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			cfg := registry.Config{Database: "d", DefaultContainer: "all", Containers: []registry.Container{{ID: "all", DefaultTTL: tc.given}}}
			plan, err := registry.NewPlan(cfg, []registry.Declaration{registry.EntityOf[Note](tc.opts...)}, tc.ext...)
			must(t, err)
			if got := plan.Containers()[0].DefaultTTL; got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestIndexingIsCompleted(t *testing.T) {
	t.Parallel()
	policy := &azcosmos.IndexingPolicy{CompositeIndexes: [][]azcosmos.CompositeIndex{{{Path: "/title"}, {Path: "/rank", Order: azcosmos.CompositeIndexDescending}}}}
	plan, err := registry.NewPlan(registry.Config{Database: "d", Containers: []registry.Container{{ID: "x", Indexing: policy}}}, nil)
	must(t, err)
	got := plan.Containers()[0].Indexing
	if !got.Automatic || got.IndexingMode != azcosmos.IndexingModeConsistent || len(got.IncludedPaths) != 1 || got.IncludedPaths[0].Path != "/*" {
		t.Errorf("got %+v", got)
	}
	if policy.Automatic || policy.IncludedPaths != nil {
		t.Errorf("the caller's policy was changed: %+v", policy)
	}
}
