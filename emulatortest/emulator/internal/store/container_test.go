package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

func TestCreateDatabase(t *testing.T) {
	t.Parallel()
	a := store.New(store.Options{})
	for body, status := range map[string]int{
		`{"id":"ok"}`: 0, `{"id":""}`: 400, `{}`: 400, `[]`: 400, `{`: 400, `{"id":1}`: 400,
		`{"id":"a/b"}`: 400, `{"id":"a#b"}`: 400, `{"id":"a "}`: 400,
		`{"id":"` + strings.Repeat("é", 255) + `"}`: 0, `{"id":"` + strings.Repeat("x", 256) + `"}`: 400,
	} {
		_, err := a.CreateDatabase([]byte(body), store.Throughput{})
		wantError(t, err, status, 0)
	}
	_, err := a.CreateDatabase([]byte(`{"id":"ok"}`), store.Throughput{})
	wantError(t, err, 409, store.SubstatusDatabaseNameExists)
	db := must(a.Database("ok"))(t)
	r := db.Resource()
	if a.DatabaseByRID(r.RID) != db || a.DatabaseByRID("ok") != nil || len(r.RID) != 8 || r.Self != "dbs/"+r.RID+"/" {
		t.Errorf("resource %+v", r)
	}
	v := parse(t, r.Body)
	for _, name := range []string{"id", "_rid", "_self", "_etag", "_colls", "_users", "_ts"} {
		if v.Get(name).IsUndefined() {
			t.Errorf("%s is missing in %s", name, r.Body)
		}
	}
}

func TestDeleted_handles(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{}, "")
	wantError(t, b.c.Delete(store.Precondition{IfMatch: `"stale"`}), 412, 0)
	wantError(t, b.c.Delete(store.Precondition{}), 0, 0)
	wantError(t, b.c.Delete(store.Precondition{}), 404, 0)
	_, err := b.c.CreateItem(at("p"), doc("a", "p", 1))
	wantError(t, err, 404, 1003)
	_, err = b.c.ReadItem(at("p"), "a")
	wantError(t, err, 404, 1003)
	_, err = b.c.Snapshot(store.Scope{}, "")
	wantError(t, err, 404, 1003)
	_, err = b.c.LatestVersions(store.FeedRequest{})
	wantError(t, err, 404, 1003)
	_, err = b.c.Split("0")
	wantError(t, err, 404, 1003)
	_, err = b.db.Container("c")
	wantError(t, err, 404, 0)

	wantError(t, b.db.Delete(store.Precondition{}), 0, 0)
	wantError(t, b.db.Delete(store.Precondition{}), 404, 0)
	_, err = b.db.Container("c")
	wantError(t, err, 404, 1003)
	_, err = b.db.CreateContainer([]byte(`{"id":"c","partitionKey":{"paths":["/pk"]}}`), store.Throughput{})
	wantError(t, err, 404, 1003)
	if offers := b.account.Offers(); len(offers) != 0 {
		t.Errorf("offers are left: %v", offers)
	}
}

func TestCreateContainer_fillsIn(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body string
		scheme     epk.Scheme
		path, want string // a path in the resource and its JSON
	}{
		{"version 2 by default", `{"id":"c","partitionKey":{"paths":["/a"]}}`, epk.HashV2, "partitionKey", `{"paths":["/a"],"kind":"Hash","version":2}`},
		{"version 0", `{"id":"c","partitionKey":{"paths":["/a"],"version":0}}`, epk.HashV2, "partitionKey", `{"paths":["/a"],"version":2,"kind":"Hash"}`},
		{"version 1", `{"id":"c","partitionKey":{"paths":["/a"],"kind":"Hash","version":1}}`, epk.HashV1, "partitionKey", `{"paths":["/a"],"kind":"Hash","version":1}`},
		{"hierarchical", `{"id":"c","partitionKey":{"paths":["/a","/b"]}}`, epk.MultiHash, "partitionKey", `{"paths":["/a","/b"],"kind":"MultiHash","version":2}`},
		{"no key at all", `{"id":"c"}`, epk.HashV2, "partitionKey", `{"paths":["/_partitionKey"],"kind":"Hash","version":2,"systemKey":true}`},
		{"default index", `{"id":"c","partitionKey":{"paths":["/a"]}}`, epk.HashV2, "indexingPolicy", `{"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"}]}`},
		{"index mode in lower case", `{"id":"c","partitionKey":{"paths":["/a"]},"indexingPolicy":{"indexingMode":"None","automatic":false}}`, epk.HashV2, "indexingPolicy", `{"indexingMode":"none","automatic":false}`},
		{"unknown properties stay", `{"id":"c","partitionKey":{"paths":["/a"]},"vectorEmbeddingPolicy":{"x":[1.50]}}`, epk.HashV2, "vectorEmbeddingPolicy", `{"x":[1.5]}`},
		{"system properties are the system's", `{"id":"c","partitionKey":{"paths":["/a"]},"_docs":"mine"}`, epk.HashV2, "_docs", `"docs/"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, store.Options{}, tt.body)
			v := parse(t, b.c.Resource().Body)
			if got := v.Get(tt.path); !value.Equal(got, parse(t, []byte(tt.want))) {
				t.Errorf("%s is %s, want %s", tt.path, got, tt.want)
			}
			if d := b.c.Definition(); d.Scheme != tt.scheme || !value.Equal(d.Properties, v) {
				t.Errorf("definition %+v", d)
			}
		})
	}
}

func TestCreateContainer_refuses(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{}, "")
	for name, properties := range map[string]string{
		"four paths":             `"partitionKey":{"paths":["/a","/b","/c","/d"]}`,
		"no paths":               `"partitionKey":{"paths":[]}`,
		"path without a slash":   `"partitionKey":{"paths":["a"]}`,
		"empty name":             `"partitionKey":{"paths":["/a//b"]}`,
		"quote does not end":     `"partitionKey":{"paths":["/\"a"]}`,
		"two paths and Hash":     `"partitionKey":{"paths":["/a","/b"],"kind":"Hash"}`,
		"MultiHash of version 1": `"partitionKey":{"paths":["/a","/b"],"kind":"MultiHash","version":1}`,
		"version 3":              `"partitionKey":{"paths":["/a"],"version":3}`,
		"TTL of zero":            `"partitionKey":{"paths":["/a"]},"defaultTtl":0`,
		"TTL of a half":          `"partitionKey":{"paths":["/a"]},"defaultTtl":0.5`,
		"index mode":             `"partitionKey":{"paths":["/a"]},"indexingPolicy":{"indexingMode":"often"}`,
		"none and automatic":     `"partitionKey":{"paths":["/a"]},"indexingPolicy":{"indexingMode":"none","automatic":true}`,
		"no root path":           `"partitionKey":{"paths":["/a"]},"indexingPolicy":{"includedPaths":[{"path":"/x/?"}]}`,
		"eleven unique keys":     `"partitionKey":{"paths":["/a"]},"uniqueKeyPolicy":{"uniqueKeys":[` + strings.Repeat(`{"paths":["/x"]},`, 10) + `{"paths":["/x"]}]}`,
		"unique key of no path":  `"partitionKey":{"paths":["/a"]},"uniqueKeyPolicy":{"uniqueKeys":[{"paths":[]}]}`,
	} {
		_, err := b.db.CreateContainer([]byte(`{"id":"`+name+`",`+properties+`}`), store.Throughput{})
		if err == nil {
			t.Errorf("%s passed", name)
			continue
		}
		wantError(t, err, 400, 0)
	}
	_, err := b.db.CreateContainer([]byte(`{"id":"c","partitionKey":{"paths":["/a"]}}`), store.Throughput{})
	wantError(t, err, 409, 0)
	if got := len(b.db.Containers()); got != 1 {
		t.Errorf("%d containers", got)
	}
}

func TestCreateContainer_partitions(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{Partitions: 2}, "")
	for i, tt := range []struct {
		throughput store.Throughput
		want       int
	}{
		{store.Throughput{}, 2}, {store.Throughput{Manual: 10000}, 2}, {store.Throughput{Manual: 30000}, 3},
		{store.Throughput{Manual: 30100}, 4}, {store.Throughput{AutoscaleMax: 50000}, 5},
	} {
		c := must(b.db.CreateContainer(fmt.Appendf(nil, `{"id":"c%d"}`, i), tt.throughput))(t)
		if ranges, _ := c.Ranges(); len(ranges) != tt.want {
			t.Errorf("%+v: %d ranges, want %d", tt.throughput, len(ranges), tt.want)
		}
	}
}

func TestReplaceContainer(t *testing.T) {
	t.Parallel()
	const properties = `{"id":"c","partitionKey":{"paths":["/pk"]},"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/u"]}]}}`
	tests := []struct {
		name, body, etag string
		status           int
	}{
		{"TTL", `{"id":"c","partitionKey":{"paths":["/pk"]},"defaultTtl":5}`, "", 0},
		{"key left out", `{"id":"c","x":1}`, "*", 0},
		{"id", `{"id":"d","partitionKey":{"paths":["/pk"]}}`, "", 400},
		{"key", `{"id":"c","partitionKey":{"paths":["/other"]}}`, "", 400},
		{"key version", `{"id":"c","partitionKey":{"paths":["/pk"],"version":1}}`, "", 400},
		{"unique key", `{"id":"c","partitionKey":{"paths":["/pk"]},"uniqueKeyPolicy":{"uniqueKeys":[]}}`, "", 400},
		{"bad TTL", `{"id":"c","partitionKey":{"paths":["/pk"]},"defaultTtl":0}`, "", 400},
		{"stale etag", `{"id":"c","partitionKey":{"paths":["/pk"]}}`, `"stale"`, 412},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, store.Options{}, properties)
			before := b.c.Resource()
			after, err := b.c.Replace([]byte(tt.body), store.Precondition{IfMatch: tt.etag})
			wantError(t, err, tt.status, 0)
			if err != nil {
				if now := b.c.Resource(); now.ETag != before.ETag || string(now.Body) != string(before.Body) {
					t.Errorf("a refused replace changed the container to %s", now.Body)
				}
				return
			}
			if after.ETag == before.ETag || after.RID != before.RID {
				t.Errorf("before %+v, after %+v", before, after)
			}
			if d := b.c.Definition(); len(d.UniqueKeys) != 1 || d.Paths[0] != "/pk" {
				t.Errorf("definition %+v", d)
			}
		})
	}
}

func TestOffers(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{}, "")
	for _, throughput := range []store.Throughput{{Manual: 300}, {Manual: 450}, {AutoscaleMax: 500}, {AutoscaleMax: 1500}, {Manual: 400, AutoscaleMax: 1000}, {Manual: -1}, {Manual: 1000100}, {AutoscaleMax: 1 << 30}} {
		_, err := b.account.CreateDatabase([]byte(`{"id":"x"}`), throughput)
		wantError(t, err, 400, 0)
	}
	c := must(b.db.CreateContainer([]byte(`{"id":"auto"}`), store.Throughput{AutoscaleMax: 5000}))(t)
	offers := b.account.Offers()
	if len(offers) != 2 {
		t.Fatalf("%d offers", len(offers))
	}
	manual, auto := parse(t, offers[0].Body), parse(t, offers[1].Body)
	if !value.Equal(manual.Get("content"), parse(t, []byte(`{"offerThroughput":400,"offerIsRUPerMinuteThroughputEnabled":false}`))) {
		t.Errorf("manual offer: %s", offers[0].Body)
	}
	if !value.Equal(auto.Get("content"), parse(t, []byte(`{"offerThroughput":500,"offerAutopilotSettings":{"tier":0,"maximumTierThroughput":5000,"autoUpgrade":false,"maxThroughput":5000}}`))) {
		t.Errorf("autoscale offer: %s", offers[1].Body)
	}
	if target, _ := auto.Get("offerResourceId").Str(); target != c.Resource().RID {
		t.Errorf("the offer is for %s", target)
	}
	if self, _ := auto.Get("resource").Str(); self != c.Resource().Self {
		t.Errorf("the offer is for %s", self)
	}
	for body, status := range map[string]int{
		`{"content":{"offerThroughput":500}}`:                                                  0,
		`{"content":{"offerThroughput":400,"offerAutopilotSettings":{"maxThroughput":10000}}}`: 0,
		`{"content":{"offerThroughput":450}}`:                                                  400, `{"content":{"offerThroughput":0}}`: 400, `{"content":{"offerThroughput":500.5}}`: 400,
		`{"content":{}}`: 400, `{}`: 400, `[`: 400, `{"content":{"offerThroughput":1e300}}`: 400,
	} {
		r, err := b.account.ReplaceOffer(offers[1].RID, []byte(body), store.Precondition{})
		wantError(t, err, status, 0)
		if err == nil && r.ETag == offers[1].ETag {
			t.Errorf("the etag stayed")
		}
	}
	_, err := b.account.ReplaceOffer("none", []byte(`{"content":{"offerThroughput":500}}`), store.Precondition{})
	wantError(t, err, 404, 0)
	_, err = b.account.Offer("none")
	wantError(t, err, 404, 0)
	wantError(t, c.Delete(store.Precondition{}), 0, 0)
	if got := b.account.Offers(); len(got) != 1 {
		t.Errorf("%d offers after the container went", len(got))
	}
}

func TestRIDs_neverRepeat(t *testing.T) {
	t.Parallel()
	a := store.New(store.Options{})
	seen := map[string]bool{}
	for i := range 300 {
		db := must(a.CreateDatabase(fmt.Appendf(nil, `{"id":"d%d"}`, i), store.Throughput{Manual: 400}))(t)
		c := must(db.CreateContainer([]byte(`{"id":"c"}`), store.Throughput{}))(t)
		for _, rid := range []string{db.Resource().RID, c.Resource().RID} {
			if seen[rid] {
				t.Fatalf("%s was used twice", rid)
			}
			seen[rid] = true
		}
		if !strings.HasPrefix(c.Resource().RID, db.Resource().RID[:5]) {
			t.Errorf("container %s is not inside of database %s", c.Resource().RID, db.Resource().RID)
		}
	}
	for _, o := range a.Offers() {
		if seen[o.RID] || strings.ContainsAny(o.RID, "+-/") {
			t.Fatalf("offer %s", o.RID)
		}
		seen[o.RID] = true
	}
}

func TestSystemKeyContainer(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{Partitions: 3}, `{"id":"c"}`)
	must(b.c.CreateItem(store.Call{Key: store.Key{}}, []byte(`{"id":"a"}`)))(t)
	must(b.c.CreateItem(store.Call{}, []byte(`{"id":"b"}`)))(t)
	must(b.c.ReadItem(store.Call{Key: store.Key{epk.Undefined()}}, "a"))(t)
	if got := ids(t, b.c, store.Scope{}); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("items %v", got)
	}
}

func BenchmarkFreshAccount(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		a := store.New(store.Options{})
		db, err := a.CreateDatabase([]byte(`{"id":"db"}`), store.Throughput{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := db.CreateContainer([]byte(`{"id":"c","partitionKey":{"paths":["/pk"]}}`), store.Throughput{}); err != nil {
			b.Fatal(err)
		}
	}
}
