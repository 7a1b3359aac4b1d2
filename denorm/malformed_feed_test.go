package denorm_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	layouts "github.com/cosmosgrove/grove/repository/layout"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Album has tracks, which show its title and are counted.
type Album struct {
	tenantitem.TenantItem[Album]
	Title  string `json:"title"`
	Tracks int    `json:"tracks"`
}

type Track struct {
	tenantitem.TenantItem[Track]
	AlbumID    tenantitem.Ref[Album] `json:"albumId,omitempty"`
	AlbumTitle string                `json:"albumTitle,omitempty" denorm:"sync,ref=albumId,field=title"`
}

// malformedInTheFeed are what other writers may have left in the container, by id:
// the entity type, which is a level of the key, and further members.
var malformedInTheFeed = map[string][2]string{
	"deleted-at-a-number":  {"Album", `"deletedAt":170000000`},
	"deleted-at-no-time":   {"Album", `"deletedAt":"yesterday","title":"hush"`},
	"a-foreign-deletion":   {"Album", `"_deletion":"x","title":"hush"`},
	"a-title-of-its-own":   {"Album", `"title":{"text":"hush"}`},
	"a-count-of-its-own":   {"Album", `"title":"hush","tracks":"many"`},
	"a-number-as-album":    {"Track", `"albumId":7`},
	"an-object-as-copy":    {"Track", `"albumId":"fine","albumTitle":{"a":1}`},
	"hidden-members":       {"Track", `"albumId":"fine","_moved":5,"_links":"y","_counted":{"z":[]},"_ops":{}`},
	"a-deleted-track":      {"Track", `"albumId":"fine","deletedAt":17,"_deletion":[]`},
	"of-an-unknown-type":   {"Invoice", `"albumId":"fine","title":5`},
	"of-no-type":           {"", `"albumId":"fine","title":5`},
	"of-a-malformed-album": {"Track", `"albumId":"a-title-of-its-own","albumTitle":"hush"`},
	"of-an-album-not-here": {"Track", `"albumId":"nowhere","albumTitle":"hush"`},
}

// feedForm is a form in which albums and tracks are stored.
type feedForm struct {
	containers     []registry.Container
	albums, tracks []registry.Option
	names          map[string]string
	envelope       string
	prefix         string // of albums
	// key is that of a document of a type, "" for none.
	key func(entityType string) azcosmos.PartitionKey
	// untyped says that documents without a type are albums.
	untyped bool
}

func feedForms() map[string]feedForm {
	byTenant := func(string) azcosmos.PartitionKey { return azcosmos.NewPartitionKeyString(acme) }
	of := func(container string, l layouts.Layout) []registry.Option {
		return []registry.Option{registry.In(container), registry.WithLayout(l)}
	}
	snake := map[string]string{
		"tenantId": "tenant_id", "entityType": "type", "deletedAt": "deleted_at", "_ops": "ops", "_op": "op",
		"_deletion": "deletion", "_moved": "moved", "_links": "links", "_moving": "moving", "_counted": "counted",
	}
	theirs := map[string]string{"tenantId": "TenantId", "entityType": "$type"}
	return map[string]feedForm{
		"Grove's": {key: func(entityType string) azcosmos.PartitionKey {
			if entityType == "" {
				return azcosmos.NewPartitionKeyString(acme).AppendNull()
			}
			return azcosmos.NewPartitionKeyString(acme).AppendString(entityType)
		}},
		"snake case, some without a type": {
			containers: []registry.Container{{ID: "app", PartitionKey: []string{"/tenant_id"}}}, names: snake, key: byTenant, untyped: true,
			albums: of("app", layouts.Layout{Names: snake, Untyped: layouts.SomeUntyped}), tracks: of("app", layouts.Layout{Names: snake}),
		},
		"envelopes and a prefix": {
			containers: []registry.Container{{ID: "app", PartitionKey: []string{"/TenantId"}}}, names: theirs, envelope: "value", prefix: "Album|", key: byTenant,
			albums: of("app", layouts.Layout{Names: theirs, Envelope: "value", IDPrefix: "Album|"}), tracks: of("app", layouts.Layout{Names: theirs, Envelope: "value"}),
		},
	}
}

// stored is a document as its owner writes it, by the members that Grove would write.
func (f feedForm) stored(members map[string]any) (id string, doc map[string]any) {
	doc = map[string]any{}
	inner := map[string]any{}
	for name, v := range members {
		to := name
		if renamed, ok := f.names[name]; ok {
			to = renamed
		}
		switch name {
		case "title", "tracks", "albumId", "albumTitle", "mine":
			inner[to] = v
		default:
			doc[to] = v
		}
	}
	if f.envelope != "" {
		doc[f.envelope] = inner
	} else {
		maps.Copy(doc, inner)
	}
	if members["entityType"] == "Album" {
		doc["id"] = f.prefix + members["id"].(string)
	}
	return doc["id"].(string), doc
}

// Documents that something else wrote stop neither the keeper nor a watch, lose
// nothing, and are named; what is fine is kept true beside them, in Grove's form
// and in those of others.
func TestMalformedDocumentsInTheFeed(t *testing.T) {
	t.Parallel()
	for kind, options := range map[string][]emulatortest.Option{"kind": {emulatortest.Calm()}, "unkind": {emulatortest.Unkind(4)}} {
		for name, form := range feedForms() {
			t.Run(kind+"/"+name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					testMalformedDocumentsInTheFeed(t, form, emulatortest.New(t, options...).Client(nil))
				})
			})
		}
	}
}

func testMalformedDocumentsInTheFeed(t *testing.T, form feedForm, client *azcosmos.Client) {
	ctx := t.Context()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	db, keeper := openLayout(t, client, "", registry.Config{Database: "albums", Provision: true, Logger: slog.New(slog.DiscardHandler), Containers: form.containers}, []registry.Declaration{
		registry.EntityOf[Album](append(form.albums, registry.SoftDelete(time.Hour))...), registry.EntityOf[Track](form.tracks...),
	}, []denorm.Declaration{denorm.CountOf[Album, Track]("tracks", "albumId")})
	check(db.Prepare(ctx))
	albums, tracks := repo[Album](t, db), repo[Track](t, db)
	container := albums.Container()

	fine := &Album{Title: "first"}
	fine.ID = "fine"
	check(albums.In(acme).Create(ctx, fine))
	var own []*Track
	for range 3 {
		track := &Track{AlbumID: fine.Ref()}
		check(tracks.In(acme).Create(ctx, track))
		own = append(own, track)
	}
	before, storedAs := map[string]map[string]any{}, map[string]string{}
	for id, malformed := range malformedInTheFeed {
		members := map[string]any{}
		check(json.Unmarshal(fmt.Appendf(nil, `{"id":%q,"tenantId":%q,"entityType":%q,"mine":{"a":[1,"hush"]},%s}`, id, acme, malformed[0], malformed[1]), &members))
		if malformed[0] == "" && form.untyped {
			delete(members, "entityType")
		} else if malformed[0] == "" {
			members["entityType"] = nil
		}
		storedID, doc := form.stored(members)
		body, err := json.Marshal(doc)
		check(err)
		check(patiently(func() error {
			_, err := container.CreateItem(ctx, form.key(malformed[0]), body, nil)
			return err
		}))
		before[id], storedAs[storedID] = doc, id
	}
	check(keeper.CatchUp(ctx))
	_, err := albums.In(acme).Patch(ctx, "fine", repository.Set("/title", "second"))
	check(err)
	check(keeper.CatchUp(ctx))

	// What is fine is true.
	for _, track := range own {
		got, err := tracks.In(acme).Get(ctx, track.ID)
		if err != nil || got.AlbumTitle != "second" {
			t.Errorf("a track shows %q: %v", got.AlbumTitle, err)
		}
	}
	counted, err := albums.In(acme).Get(ctx, "fine")
	check(err)
	there, err := tracks.In(acme).Count(ctx, repository.Where(repository.Eq("albumId", "fine")))
	check(err)
	if counted.Tracks != int(there) || there < 3 {
		t.Errorf("the album counts %d tracks of %d", counted.Tracks, there)
	}

	// Nothing is lost: what the others wrote is there, but for copies and counts.
	for storedID, id := range storedAs {
		item, err := container.ReadItem(ctx, form.key(malformedInTheFeed[id][0]), storedID, nil)
		check(err)
		var now map[string]any
		check(json.Unmarshal(item.Value, &now))
		then := before[id]
		for _, doc := range []map[string]any{now, then} {
			inner, _ := doc[form.envelope].(map[string]any)
			for _, members := range []map[string]any{doc, inner} {
				delete(members, "tracks")
				delete(members, "albumTitle")
			}
		}
		for name, v := range then {
			if kept := strings.HasPrefix(name, "_") || form.isKept(name); !kept && !reflect.DeepEqual(now[name], v) {
				t.Errorf("%s: %s became %v", id, name, now[name])
			}
		}
	}

	// What can't be served is named, by its id and without its content.
	named := map[string]bool{}
	processor, ok := keeper.Processor(container.ID())
	if !ok {
		t.Fatal("no processor")
	}
	for q, err := range processor.Quarantined(ctx) {
		check(err)
		named[cmp.Or(storedAs[q.DocumentID], q.DocumentID)] = true
		if strings.Contains(q.Reason, "hush") {
			t.Errorf("the reason for %s tells what stands in it", q.DocumentID)
		}
	}
	for d, err := range keeper.Audit(ctx, acme) {
		check(err)
		named[cmp.Or(storedAs[d.ID], d.ID)] = true
	}
	progress, err := keeper.Repair(ctx, acme, nil)
	check(err)
	for id := range named {
		if malformedInTheFeed[id] == [2]string{} {
			t.Errorf("%s is named, and nothing is wrong with it", id)
		}
	}
	if int(progress.Skipped) != len(named) {
		t.Errorf("a repair passes over %d, and %v are named", progress.Skipped, named)
	}
	for _, id := range []string{"an-object-as-copy", "a-count-of-its-own", "a-number-as-album", "of-a-malformed-album"} {
		if !named[id] {
			t.Errorf("%s is not named", id)
		}
	}
	watchMalformed(t, form, albums)
}

// isKept reports whether a stored member is one of those that Grove keeps.
func (f feedForm) isKept(name string) bool {
	for canonical, to := range f.names {
		if to == name && canonical[0] == '_' {
			return true
		}
	}
	return false
}

// watchMalformed reads all albums from the beginning: each is seen once, or named.
func watchMalformed(t *testing.T, form feedForm, albums *repository.Repository[Album]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	seen := map[string]bool{}
	for event, err := range denorm.Watch(ctx, albums, denorm.WatchOptions{WatchOptions: changefeed.WatchOptions{StartFrom: changefeed.Beginning()}}) {
		var unread *repository.DecodeError
		switch {
		case errors.As(err, &unread):
			seen[unread.ID] = true
		case err != nil:
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the watch ended: %v", err)
			}
		default:
			seen[event.ID] = true
		}
	}
	for id, malformed := range malformedInTheFeed {
		if (malformed[0] == "Album" || malformed[0] == "" && form.untyped) != seen[id] {
			t.Errorf("the watch saw %s: %t", id, seen[id])
		}
	}
	if !seen["fine"] {
		t.Error("the watch did not see the album that is fine")
	}
}
