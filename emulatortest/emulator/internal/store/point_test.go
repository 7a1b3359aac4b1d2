package store_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

func TestCreateItem_keepsStringsAsWrittenAndNumbersAsDoubles(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{}, "")
	body := []byte("{ \"z\" : 1.0e2, \"id\":\"a\",\"pk\":\"p\", \"_etag\":\"mine\", \"s\": \"\\u0041 b\", \"list\": [ 1, 2.50 ] }\n")
	r := must(b.c.CreateItem(at("p"), body))(t)
	if r.Status != http.StatusCreated || r.Charge <= 0 || r.LSN != 2 || r.RangeID != "0" || r.SessionToken != "0:-1#2" {
		t.Errorf("got %+v", r)
	}
	const user = `{"z":100,"id":"a","pk":"p","s":"\u0041 b","list":[1,2.5],"_rid":"`
	if !bytes.HasPrefix(r.Body, []byte(user)) {
		t.Errorf("stored text is %s", r.Body)
	}
	v := parse(t, r.Body)
	etag, _ := v.Get("_etag").Str()
	ts, _ := v.Get("_ts").Number()
	self, _ := v.Get("_self").Str()
	rid, _ := v.Get("_rid").Str()
	if etag != r.ETag || int64(ts) != b.clock.Now().Unix() || !strings.HasSuffix(self, "/docs/"+rid+"/") || len(rid) != 24 {
		t.Errorf("system properties: %s", r.Body)
	}
	if want := fmt.Sprintf("-%08x0000\"", b.clock.Now().Unix()); !strings.HasSuffix(etag, want) {
		t.Errorf("etag %s does not end with %s", etag, want)
	}
	read := must(b.c.ReadItem(at("p"), "a"))(t)
	if !bytes.Equal(read.Body, r.Body) || read.ItemLSN != 2 || read.Charge != 1 {
		t.Errorf("read %+v", read)
	}
}

func TestItemVerbs_refuse(t *testing.T) {
	t.Parallel()
	big := []byte(`{"id":"big","pk":"p","s":"` + strings.Repeat("x", store.MaxItemSize) + `"}`)
	deep := []byte(`{"id":"deep","pk":"p","a":` + strings.Repeat("[", 128) + strings.Repeat("]", 128) + `}`)
	create := func(call store.Call, body string) func(*store.Container) error {
		return func(c *store.Container) error { _, err := c.CreateItem(call, []byte(body)); return err }
	}
	match := func(etag string) store.Call {
		return store.Call{Key: key("p"), Precondition: store.Precondition{IfMatch: etag}}
	}
	tests := []struct {
		name              string
		do                func(*store.Container) error
		status, substatus int
	}{
		{"not JSON", create(at("p"), `{"id":"x",`), 400, 0},
		{"empty body", func(c *store.Container) error { _, err := c.CreateItem(at("p"), nil); return err }, 400, 0},
		{"not UTF-8", create(at("p"), "{\"id\":\"x\",\"pk\":\"p\",\"s\":\"\xff\"}"), 400, 0},
		{"an array", create(at("p"), `[]`), 400, 0},
		{"no id", create(at("p"), `{"pk":"p"}`), 400, 0},
		{"id is a number", create(at("p"), `{"id":1,"pk":"p"}`), 400, 0},
		{"empty id", create(at("p"), `{"id":"","pk":"p"}`), 400, 0},
		{"long id", create(at("p"), `{"id":"`+strings.Repeat("x", 1024)+`","pk":"p"}`), 400, 0},
		{"id of the greatest length", create(at("p"), `{"id":"`+strings.Repeat("x", 1023)+`","pk":"p"}`), 0, 0},
		{"taken id", create(at("p"), `{"id":"a","pk":"p"}`), 409, 0},
		{"same id under another key", create(at("q"), `{"id":"a","pk":"q"}`), 0, 0},
		{"no key", create(store.Call{}, `{"id":"x","pk":"p"}`), 400, 0},
		{"key from the body", create(store.Call{KeyFromBody: true}, `{"id":"x","pk":"p"}`), 0, 0},
		{"other key than the document's", create(at("q"), `{"id":"x","pk":"p"}`), 400, 1001},
		{"too many components", create(at("p", "q"), `{"id":"x","pk":"p"}`), 400, 0},
		{"key is an object", create(at("p"), `{"id":"x","pk":{}}`), 400, 0},
		{"long key", create(store.Call{KeyFromBody: true}, `{"id":"x","pk":"`+strings.Repeat("k", 2049)+`"}`), 400, 0},
		{"too large", func(c *store.Container) error { _, err := c.CreateItem(at("p"), big); return err }, 413, 0},
		{"too deep", func(c *store.Container) error { _, err := c.CreateItem(at("p"), deep); return err }, 400, 0},
		{"unknown range", create(store.Call{Key: key("p"), RangeID: "9"}, `{"id":"x","pk":"p"}`), 410, 1002},
		{"read of nothing", func(c *store.Container) error { _, err := c.ReadItem(at("p"), "x"); return err }, 404, 0},
		{"read under another key", func(c *store.Container) error { _, err := c.ReadItem(at("q"), "a"); return err }, 404, 0},
		{"read without a key", func(c *store.Container) error { _, err := c.ReadItem(store.Call{}, "a"); return err }, 400, 0},
		{"replace of nothing", func(c *store.Container) error { _, err := c.ReplaceItem(at("p"), "x", doc("x", "p", 1)); return err }, 404, 0},
		{"replace with a stale etag", func(c *store.Container) error {
			_, err := c.ReplaceItem(match(`"stale"`), "a", doc("a", "p", 1))
			return err
		}, 412, 0},
		{"replace moves the key", func(c *store.Container) error { _, err := c.ReplaceItem(at("p"), "a", doc("a", "q", 1)); return err }, 400, 1001},
		{"rename onto another", func(c *store.Container) error { _, err := c.ReplaceItem(at("p"), "a", doc("b", "p", 1)); return err }, 409, 0},
		{"rename", func(c *store.Container) error { _, err := c.ReplaceItem(at("p"), "a", doc("new", "p", 1)); return err }, 0, 0},
		{"upsert with a stale etag", func(c *store.Container) error { _, err := c.UpsertItem(match(`"stale"`), doc("a", "p", 1)); return err }, 412, 0},
		{"upsert of a new item with an etag", func(c *store.Container) error { _, err := c.UpsertItem(match(`"stale"`), doc("x", "p", 1)); return err }, 0, 0},
		{"delete of nothing", func(c *store.Container) error { _, err := c.DeleteItem(at("p"), "x"); return err }, 404, 0},
		{"delete with a stale etag", func(c *store.Container) error { _, err := c.DeleteItem(match(`"stale"`), "a"); return err }, 412, 0},
		{"delete with any etag", func(c *store.Container) error { _, err := c.DeleteItem(match("*"), "a"); return err }, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, store.Options{}, "")
			must(b.c.CreateItem(at("p"), doc("a", "p", 1)))(t)
			must(b.c.CreateItem(at("p"), doc("b", "p", 1)))(t)
			before := ids(t, b.c, store.Scope{})
			wantError(t, tt.do(b.c), tt.status, tt.substatus)
			if after := ids(t, b.c, store.Scope{}); tt.status != 0 && !slices.Equal(before, after) {
				t.Errorf("a refused request changed %v to %v", before, after)
			}
		})
	}
}

func TestErrorsTellThePosition(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{}, "")
	must(b.c.CreateItem(at("p"), doc("a", "p", 1)))(t)
	for name, r := range map[string]store.Result{
		"read":   first(b.c.ReadItem(at("p"), "x")),
		"create": first(b.c.CreateItem(at("p"), doc("a", "p", 1))),
		"delete": first(b.c.DeleteItem(at("p"), "x")),
	} {
		if r.Status != 0 || r.SessionToken != "0:-1#2" || r.RangeID != "0" || r.LSN != 2 || r.Charge <= 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func first(r store.Result, _ error) store.Result { return r }

func TestReadItem_notModified(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{}, "")
	created := must(b.c.CreateItem(at("p"), doc("a", "p", 1)))(t)
	for etag, status := range map[string]int{created.ETag: 304, "*": 304, `"other"`: 200, "": 200} {
		r := must(b.c.ReadItem(store.Call{Key: key("p"), Precondition: store.Precondition{IfNoneMatch: etag}}, "a"))(t)
		if r.Status != status || (status == 304) != (r.Body == nil) || r.ETag != created.ETag {
			t.Errorf("If-None-Match %s: %+v", etag, r)
		}
	}
}

func TestReplaceItem_keepsTheRIDAndChangesTheETag(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{}, "")
	created := must(b.c.CreateItem(at("p"), doc("a", "p", 1)))(t)
	replaced := must(b.c.ReplaceItem(store.Call{Key: key("p"), Precondition: store.Precondition{IfMatch: created.ETag}}, "a", doc("b", "p", 2)))(t)
	if replaced.ETag == created.ETag || replaced.Status != 200 || replaced.LSN != created.LSN+1 {
		t.Errorf("replaced: %+v", replaced)
	}
	before, _ := parse(t, created.Body).Get("_rid").Str()
	after, _ := parse(t, replaced.Body).Get("_rid").Str()
	if before != after {
		t.Errorf("_rid went from %s to %s", before, after)
	}
	_, err := b.c.ReadItem(at("p"), "a")
	wantError(t, err, 404, 0)
	must(b.c.ReadItem(at("p"), "b"))(t)
}

func TestKeys(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, paths, body string
		want              store.Key
		status            int
	}{
		{"string", `"/pk"`, `{"id":"a","pk":"p"}`, key("p"), 0},
		{"missing", `"/pk"`, `{"id":"a"}`, store.Key{epk.Undefined()}, 0},
		{"null", `"/pk"`, `{"id":"a","pk":null}`, store.Key{epk.Null()}, 0},
		{"number", `"/pk"`, `{"id":"a","pk":1.0}`, store.Key{epk.Number(1)}, 0},
		{"Boolean", `"/pk"`, `{"id":"a","pk":true}`, store.Key{epk.Bool(true)}, 0},
		{"nested", `"/a/b"`, `{"id":"a","a":{"b":"p"}}`, key("p"), 0},
		{"nested and missing", `"/a/b"`, `{"id":"a"}`, store.Key{epk.Undefined()}, 0},
		{"through a number", `"/a/b"`, `{"id":"a","a":1}`, nil, 400},
		{"quoted", `"/\"a b\"/c"`, `{"id":"a","a b":{"c":"p"}}`, key("p"), 0},
		{"array", `"/pk"`, `{"id":"a","pk":[]}`, nil, 400},
		{"hierarchical", `"/t","/e"`, `{"id":"a","t":"acme","e":"Note"}`, key("acme", "Note"), 0},
		{"last duplicate counts", `"/pk"`, `{"id":"a","pk":"p","pk":"q"}`, key("q"), 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, store.Options{}, `{"id":"c","partitionKey":{"paths":[`+tt.paths+`]}}`)
			got, err := b.c.KeyOf([]byte(tt.body))
			wantError(t, err, tt.status, 0)
			if err == nil && !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			if err == nil {
				must(b.c.CreateItem(store.Call{Key: got}, []byte(tt.body)))(t)
				must(b.c.ReadItem(store.Call{Key: got}, "a"))(t)
			}
		})
	}
}

func TestPrefixKey_pointOperationIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{}, `{"id":"c","partitionKey":{"paths":["/t","/e"]}}`)
	_, err := b.c.ReadItem(at("acme"), "a")
	wantError(t, err, 400, 1001)
}

func TestDuplicateMembers_areStoredOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{}, "")
	r := must(b.c.CreateItem(at("p"), []byte(`{"id":"a","n":1,"pk":"p","n":2}`)))(t)
	if !bytes.HasPrefix(r.Body, []byte(`{"id":"a","n":2,"pk":"p",`)) {
		t.Errorf("stored %s", r.Body)
	}
}

func TestLogicalPartitionLimit(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{LogicalPartitionLimit: 1000}, "")
	full := false
	for i := range 10 {
		_, err := b.c.CreateItem(at("p"), doc(fmt.Sprint(i), "p", i))
		if err != nil {
			wantError(t, err, 403, 1014)
			full = true
		}
	}
	if !full {
		t.Fatal("the limit was never reached")
	}
	must(b.c.CreateItem(at("q"), doc("0", "q", 1)))(t)
	must(b.c.DeleteItem(at("p"), "0"))(t)
	must(b.c.CreateItem(at("p"), doc("0", "p", 1)))(t)
}

func TestUniqueKeys(t *testing.T) {
	t.Parallel()
	const properties = `{"id":"c","partitionKey":{"paths":["/pk"]},"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/email"]},{"paths":["/a","/b/c"]}]}}`
	b := setup(t, store.Options{}, properties)
	create := func(body string) error {
		_, err := b.c.CreateItem(store.Call{KeyFromBody: true}, []byte(body))
		return err
	}
	wantError(t, create(`{"id":"1","pk":"p","email":"x","a":1}`), 0, 0)
	wantError(t, create(`{"id":"2","pk":"p","email":"x","a":2}`), 409, 3301)
	wantError(t, create(`{"id":"2","pk":"p","email":"X","a":2}`), 0, 0)
	wantError(t, create(`{"id":"3","pk":"q","email":"x","a":1}`), 0, 0)
	wantError(t, create(`{"id":"4","pk":"p","email":"y","a":1,"b":{"c":null}}`), 409, 3301)
	wantError(t, create(`{"id":"4","pk":"p","email":"y","a":1,"b":{"c":0}}`), 0, 0)
	wantError(t, create(`{"id":"5","pk":"p"}`), 0, 0)
	wantError(t, create(`{"id":"6","pk":"p"}`), 409, 3301)
	_, err := b.c.ReplaceItem(at("p"), "2", []byte(`{"id":"2","pk":"p","email":"x"}`))
	wantError(t, err, 409, 3301)
	_, err = b.c.ReplaceItem(at("p"), "1", []byte(`{"id":"1","pk":"p","email":"x","a":7}`))
	wantError(t, err, 0, 0)
	_, err = b.c.UpsertItem(at("p"), []byte(`{"id":"8","pk":"p","email":"x"}`))
	wantError(t, err, 409, 3301)
	_, err = b.c.PatchItem(at("p"), "2", store.Patch{Operations: []store.PatchOperation{{Kind: "set", Path: "/email", Value: []byte(`"x"`)}}})
	wantError(t, err, 409, 3301)
	must(b.c.DeleteItem(at("p"), "1"))(t)
	wantError(t, create(`{"id":"9","pk":"p","email":"x","a":9}`), 0, 0)
}

func TestDeleteKey(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{}, "")
	for i := range 5 {
		must(b.c.CreateItem(at("p"), doc(fmt.Sprint(i), "p", i)))(t)
	}
	must(b.c.CreateItem(at("q"), doc("kept", "q", 1)))(t)
	must(b.c.DeleteKey(at("p")))(t)
	if got := ids(t, b.c, store.Scope{}); !slices.Equal(got, []string{"kept"}) {
		t.Errorf("left over: %v", got)
	}
	if u := b.c.Usage(); u.Documents != 1 || u.Bytes == 0 {
		t.Errorf("usage %+v", u)
	}
}
