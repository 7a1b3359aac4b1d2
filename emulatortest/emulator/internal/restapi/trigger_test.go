package restapi

import (
	"net/http"
	"strings"
	"testing"
)

const (
	beforeHeader = "x-ms-documentdb-pre-trigger-include"
	afterHeader  = "x-ms-documentdb-post-trigger-include"

	// stamp completes an item that has no time of its own.
	stamp = `function () {
		var request = getContext().getRequest(), item = request.getBody();
		if (!("n" in item)) item["n"] = 42;
		item.by = request.getOperationType();
		request.setBody(item);
	}`

	// tally keeps a document about the others up to date.
	tally = `function () {
		var collection = getContext().getCollection(), made = getContext().getResponse().getBody();
		var accepted = collection.queryDocuments(collection.getSelfLink(), 'SELECT * FROM root r WHERE r.id = "_metadata"', function (err, found) {
			if (err) throw new Error("Error " + err.message);
			if (found.length !== 1) throw "Unable to find metadata document";
			found[0].n += 1;
			found[0].names += " " + made.id;
			if (!collection.replaceDocument(found[0]._self, found[0], function (err) { if (err) throw "Unable to update metadata, abort"; })) throw "not accepted";
		});
		if (!accepted) throw "not accepted";
	}`
)

func TestTriggers(t *testing.T) {
	t.Parallel()
	const docs = "/dbs/db/colls/items/docs"
	for _, c := range []struct {
		name, body, kind, operation string // the trigger
		method, path, item          string
		headers                     []string
		status                      int
		says, left                  string
	}{
		{"before a create", stamp, "Pre", "Create", "POST", docs, `{"id":"1","pk":"a"}`, nil, 201, `"by":"Create"`, "_metadata=0 1=42"},
		{"before an upsert", stamp, "Pre", "All", "POST", docs, `{"id":"1","pk":"a"}`, []string{"x-ms-documentdb-is-upsert", "True"}, 201, `"by":"Upsert"`, "_metadata=0 1=42"},
		{"before a replace", stamp, "pre", "replace", "PUT", docs + "/_metadata", `{"id":"_metadata","pk":"a"}`, nil, 200, `"by":"Replace"`, "_metadata=42"},
		{"for updates", stamp, "pre", "Update", "PUT", docs + "/_metadata", `{"id":"_metadata","pk":"a"}`, nil, 200, `"by":"Replace"`, "_metadata=42"},
		{"before a delete", `function () { if (getContext().getRequest().getBody() !== undefined) throw "a body"; }`, "Pre", "Delete", "DELETE", docs + "/_metadata", "", nil, 204, "", ""},
		{"after a create", tally, "Post", "All", "POST", docs, `{"id":"1","pk":"a"}`, nil, 201, `"id":"1"`, "_metadata=1 1"},
		{"after a delete", `function () { __.createDocument(__.getSelfLink(), { id: "trace", pk: "a" }); }`, "Post", "Delete", "DELETE", docs + "/_metadata", "", nil, 204, "", "trace"},
		{"answer changed", `function () { var r = getContext().getResponse(); r.setBody({ was: r.getBody().id }); }`, "Post", "Create", "POST", docs, `{"id":"1","pk":"a"}`, nil, 201, `{"was":"1"}`, "_metadata=0 1"},
		{"refused before", `function () { throw new Error("no"); }`, "Pre", "All", "POST", docs, `{"id":"1","pk":"a"}`, nil, 400, "no", "_metadata=0"},
		{"refused after", `function () { throw new Error("no"); }`, "Post", "All", "POST", docs, `{"id":"1","pk":"a"}`, nil, 400, "no", "_metadata=0"},
		{"no response before", `function () { getContext().getResponse(); }`, "Pre", "All", "POST", docs, `{"id":"1","pk":"a"}`, nil, 400, "getResponse", "_metadata=0"},
		{"key changed before", `function () { var r = getContext().getRequest(), b = r.getBody(); b.pk = "z"; r.setBody(b); }`, "Pre", "All", "POST", docs, `{"id":"1","pk":"a"}`, nil, 400, "doesn't match", "_metadata=0"},
		{"conflict of the operation", stamp, "Pre", "All", "POST", docs, `{"id":"_metadata","pk":"a"}`, nil, 409, "already exists", "_metadata=0"},
		{"stale etag", stamp, "Pre", "All", "PUT", docs + "/_metadata", `{"id":"_metadata","pk":"a"}`, []string{"If-Match", `"x"`}, 412, "pre-condition", "_metadata=0"},
		{"another operation", stamp, "Pre", "Delete", "POST", docs, `{"id":"1","pk":"a"}`, nil, 400, "triggerOperation is delete", "_metadata=0"},
		{"a read", stamp, "Pre", "All", "GET", docs + "/_metadata", "", nil, 400, "triggers run with", "_metadata=0"},
		{"a query", stamp, "Pre", "All", "POST", docs, `{"query":"SELECT * FROM c"}`, []string{"Content-Type", "application/query+json"}, 400, "triggers run with", "_metadata=0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.do(t, http.MethodPost, docs, `{"id":"_metadata","pk":"a","n":0,"names":""}`, keyHeader, `["a"]`)
			b.register(t, "triggers", "t", c.body, c.kind, c.operation)
			header := beforeHeader
			if strings.EqualFold(c.kind, "post") {
				header = afterHeader
			}
			a := b.do(t, c.method, c.path, c.item, append([]string{keyHeader, `["a"]`, header, "t"}, c.headers...)...)
			if a.Status != c.status || !strings.Contains(string(a.Body), c.says) {
				t.Errorf("got %d %s, want %d with %q", a.Status, a.Body, c.status, c.says)
			}
			if left := b.ids(t); left != c.left {
				t.Errorf("left %q, want %q", left, c.left)
			}
		})
	}
}

func TestTriggersAreFoundByNameAndType(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.register(t, "triggers", "stamp", stamp, "Pre", "All")
	b.register(t, "triggers", "other", stamp, "Pre", "All")
	for _, c := range []struct{ header, name, says string }{
		{beforeHeader, "none", "does not exist"},
		{afterHeader, "stamp", "not a post-trigger"},
		{beforeHeader, "stamp,other", "Only one"},
	} {
		a := b.do(t, http.MethodPost, "/dbs/db/colls/items/docs", `{"id":"1","pk":"a"}`, keyHeader, `["a"]`, c.header, c.name)
		if a.Status != http.StatusBadRequest || !strings.Contains(string(a.Body), c.says) {
			t.Errorf("%s: %d %s", c.name, a.Status, a.Body)
		}
	}
	both := b.do(t, http.MethodPost, "/dbs/db/colls/items/docs", `{"id":"1","pk":"a"}`, keyHeader, `["a"]`, beforeHeader, "stamp", afterHeader, "none")
	if both.Status != http.StatusBadRequest || b.ids(t) != "" {
		t.Errorf("a missing post-trigger: %d, left %q", both.Status, b.ids(t))
	}
}
