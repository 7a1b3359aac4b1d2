package restapi

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

const procedures = "/dbs/db/colls/items/sprocs"

// register stores a script; for a trigger, kind and operation follow.
func (b *bundle) register(t *testing.T, feed, id, body string, trigger ...string) {
	t.Helper()
	resource := map[string]string{"id": id, "body": body}
	if len(trigger) == 2 {
		resource["triggerType"], resource["triggerOperation"] = trigger[0], trigger[1]
	}
	text, err := json.Marshal(resource)
	if err != nil {
		t.Fatal(err)
	}
	if a := b.do(t, http.MethodPost, "/dbs/db/colls/items/"+feed, string(text)); a.Status != http.StatusCreated {
		t.Fatalf("create %s: %d %s", id, a.Status, a.Body)
	}
}

// execute calls a procedure in the logical partition "a".
func (b *bundle) execute(t *testing.T, id, arguments string, headers ...string) *Answer {
	t.Helper()
	return b.do(t, http.MethodPost, procedures+"/"+id, arguments, append([]string{keyHeader, `["a"]`}, headers...)...)
}

// ids lists the ids of the items in the logical partition "a", with the member n when they have it.
func (b *bundle) ids(t *testing.T) string {
	t.Helper()
	a := b.do(t, http.MethodPost, "/dbs/db/colls/items/docs", `{"query":"SELECT VALUE CONCAT(c.id, IS_DEFINED(c.n) ? CONCAT('=', ToString(c.n)) : '') FROM c"}`,
		"Content-Type", "application/query+json", keyHeader, `["a"]`)
	var page struct{ Documents []string }
	if err := json.Unmarshal(a.Body, &page); err != nil {
		t.Fatal(err)
	}
	return strings.Join(page.Documents, " ")
}

// The procedures do what the documentation's examples do, in words of their own.
const (
	hello = `function () { getContext().getResponse().setBody("Hello, World"); }`

	createOne = `function (item) {
		var collection = getContext().getCollection();
		var accepted = collection.createDocument(collection.getSelfLink(), item, function (err, made) {
			if (err) throw new Error("Error " + err.message);
			getContext().getResponse().setBody(made.id);
		});
		if (!accepted) throw new Error("not accepted");
	}`

	arrayArgument = `function (list) {
		if (typeof list === "string") list = JSON.parse(list);
		getContext().getResponse().setBody(list.length);
	}`

	bulkImport = `function (items) {
		var collection = getContext().getCollection(), link = collection.getSelfLink(), count = 0;
		if (!items) throw new Error("The list is undefined or null.");
		if (items.length === 0) { getContext().getResponse().setBody(0); return; }
		create(items[0]);
		function create(item) {
			if (!collection.createDocument(link, item, next)) getContext().getResponse().setBody(count);
		}
		function next(err) {
			if (err) throw err;
			count++;
			if (count >= items.length) getContext().getResponse().setBody(count);
			else create(items[count]);
		}
	}`

	bulkDelete = `function (query) {
		var collection = getContext().getCollection(), link = collection.getSelfLink();
		var body = { deleted: 0, continuation: true };
		if (!query) throw new Error("The query is undefined or null.");
		more();
		function more(continuation) {
			var accepted = collection.queryDocuments(link, query, { continuation: continuation }, function (err, found, options) {
				if (err) throw err;
				if (found.length > 0) remove(found);
				else if (options.continuation) more(options.continuation);
				else { body.continuation = false; getContext().getResponse().setBody(body); }
			});
			if (!accepted) getContext().getResponse().setBody(body);
		}
		function remove(documents) {
			if (documents.length === 0) return more();
			var accepted = collection.deleteDocument(documents[0]._self, {}, function (err) {
				if (err) throw err;
				body.deleted++;
				documents.shift();
				remove(documents);
			});
			if (!accepted) getContext().getResponse().setBody(body);
		}
	}`

	tradePlayers = `function (firstID, secondID) {
		var collection = getContext().getCollection(), response = getContext().getResponse();
		find(firstID, function (first) {
			find(secondID, function (second) {
				var n = first.n;
				first.n = second.n;
				second.n = n;
				save(first, function () { save(second, function () { response.setBody(true); }); });
			});
		});
		function find(id, then) {
			var query = { query: "SELECT * FROM players p WHERE p.id = @id", parameters: [{ name: "@id", value: id }] };
			if (!collection.queryDocuments(collection.getSelfLink(), query, {}, function (err, items) {
				if (err) throw new Error("Error " + err.message);
				if (items.length !== 1) throw "Unable to find both players";
				then(items[0]);
			})) throw "not accepted";
		}
		function save(player, then) {
			if (!collection.replaceDocument(player._self, player, { etag: player._etag }, function (err) {
				if (err) throw "Unable to update a player, abort";
				then();
			})) throw "not accepted";
		}
	}`

	asyncSample = `function () {
		const queryDocuments = (query) => new Promise((resolve, reject) => {
			if (!__.queryDocuments(__.getSelfLink(), query, {}, (err, feed, options) => err ? reject(err) : resolve({ feed, options }))) {
				reject(new Error(429, "not accepted"));
			}
		});
		const createDocument = (body) => new Promise((resolve, reject) => {
			if (!__.createDocument(__.getSelfLink(), body, {}, (err, made) => err ? reject(err) : resolve(made))) reject(new Error(429, "not accepted"));
		});
		async function main() {
			const { feed } = await queryDocuments("SELECT * FROM c WHERE c.n > 1");
			for (const found of feed) {
				found.id = found.id + "-copy";
				delete found._self;
				await createDocument(found);
			}
			getContext().getResponse().setBody(feed.length);
		}
		main().catch(err => getContext().abort(err));
	}`

	metadata = `function (item) {
		var accepted = __.createDocument(__.getSelfLink(), item, {}, function (err, made) {
			if (err) throw err;
			var result = __.filter(function (x) { return x.isMetadata === true; }, function (err, feed) {
				if (err) throw err;
				if (!feed || !feed.length) throw new Error("Failed to find the metadata item.");
				var meta = feed[0];
				meta.n = Math.max(meta.n || 0, made.size);
				var ok = __.replaceDocument(meta._self, meta, function (err) {
					if (err) throw err;
					__.response.setBody({ id: made.id, largest: meta.n });
				});
				if (!ok) throw new Error("not accepted");
			});
			if (!result.isAccepted) throw new Error("not accepted");
		});
		if (!accepted) throw new Error("not accepted");
	}`
)

func TestStoredProcedures(t *testing.T) {
	t.Parallel()
	three := `[[{"id":"1","pk":"a","n":1},{"id":"2","pk":"a","n":2},{"id":"3","pk":"a","n":3}]]`
	for _, c := range []struct {
		name, body, arguments string
		before                []string // arguments of the import that goes before
		want, left            string
	}{
		{"hello", hello, "[]", nil, `"Hello, World"`, ""},
		{"no arguments at all", hello, "", nil, `"Hello, World"`, ""},
		{"no body set", "function () {}", "[]", nil, `""`, ""},
		{"create an item", createOne, `[{"id":"x","pk":"a"}]`, nil, `"x"`, "x"},
		{"an array as text", arrayArgument, `["[1,2,3]"]`, nil, "3", ""},
		{"bulk import", bulkImport, three, nil, "3", "1=1 2=2 3=3"},
		{"bulk import of nothing", bulkImport, "[[]]", nil, "0", ""},
		{"bulk delete", bulkDelete, `["SELECT c._self FROM c WHERE c.n > 1"]`, []string{three}, `{"deleted":2,"continuation":false}`, "1=1"},
		{"trade two players", tradePlayers, `["1","3"]`, []string{three}, "true", "1=3 2=2 3=1"},
		{"async and await", asyncSample, "[]", []string{three}, "2", "1=1 2=2 3=3 2-copy=2 3-copy=3"},
		{
			"query API with metadata", metadata, `[{"id":"4","pk":"a","size":7}]`,
			[]string{`[[{"id":"meta","pk":"a","isMetadata":true}]]`}, `{"id":"4","largest":7}`, "meta=7 4",
		},
		{"filter without a callback", `function () { __.filter(function (x) { return x.n > 1; }); }`, "[]", []string{three}, "", "1=1 2=2 3=3"},
		{"pluck", `function () { __.pluck("n", function (err, feed) { __.response.setBody(feed); }); }`, "[]", []string{three}, "[1,2,3]", ""},
		{
			"chain", `function () { __.chain().filter(x => x.n !== 2).sortByDescending(x => x.n).map(x => ({ k: x.n })).value((err, feed) => __.response.setBody(feed)); }`,
			"[]", []string{three}, `[{"k":3},{"k":1}]`, "",
		},
		{
			"flatten", `function () { __.chain().map(x => [x.n, x.n]).flatten(true).value((err, feed) => __.response.setBody(feed)); }`,
			"[]", []string{three}, "[1,1,2,2,3,3]", "",
		},
		{
			"unwind", `function () { __.unwind(x => x.tags, (x, tag) => x.id + tag, {}, (err, feed) => __.response.setBody(feed)); }`,
			"[]", []string{`[[{"id":"1","pk":"a","tags":["r","g"]},{"id":"2","pk":"a"}]]`}, `["1r","1g"]`, "",
		},
		{
			"pages of the query API", `function () {
				var pages = [];
				more("");
				function more(after) {
					__.sortBy(x => -x.n, { pageSize: 2, continuation: after }, (err, feed, options) => {
						if (err) throw err;
						pages.push(feed.map(x => x.n));
						if (options.continuation) more(options.continuation); else __.response.setBody(pages);
					});
				}
			}`, "[]", []string{three}, "[[3,2],[1]]", "",
		},
		{
			"pages of a query", `function () {
				var c = getContext().getCollection(), pages = [];
				more();
				function more(after) {
					c.queryDocuments(c.getAltLink(), "SELECT VALUE c.n FROM c ORDER BY c.n DESC", { pageSize: 2, continuation: after }, function (err, feed, options) {
						if (err) throw err;
						pages.push(feed);
						if (options.continuation) more(options.continuation); else getContext().getResponse().setBody(pages);
					});
				}
			}`, "[]", []string{three}, "[[3,2],[1]]", "",
		},
		{
			"pages of the feed", `function () {
				var c = getContext().getCollection(), seen = [];
				more();
				function more(after) {
					c.readDocuments(c.getSelfLink(), { pageSize: 2, continuation: after }, function (err, feed, options) {
						seen.push(feed.map(x => x.id).join());
						if (options.continuation) more(options.continuation); else getContext().getResponse().setBody(seen);
					});
				}
			}`, "[]", []string{three}, `["1,2","3"]`, "",
		},
		{
			"links by name, conditions and a read that finds nothing new", `function () {
				var link = __.getAltLink() + "/docs/1";
				__.readDocument(link, function (err, doc) {
					__.readDocument(link, { ifNoneMatch: doc._etag }, function (err, again, options) {
						__.replaceDocument(link, { id: "1", pk: "a", n: 9 }, { etag: '"other"' }, function (err) {
							__.response.setBody([again === undefined, options.notModified, err.number]);
						});
					});
				});
			}`, "[]", []string{three}, "[true,true,412]", "1=1 2=2 3=3",
		},
		{
			"callbacks come later", `function () {
				var order = [];
				__.upsertDocument(__.getSelfLink(), { id: "1", pk: "a", n: 5 }, function () { order.push("done"); __.response.setBody(order); });
				order.push("queued");
			}`, "[]", nil, `["queued","done"]`, "1=5",
		},
		{
			"an id of its own", `function () { var d = { pk: "a" }; __.createDocument(__.getSelfLink(), d, function (err, made) { __.response.setBody([d.id === undefined, made.id.length]); }); }`,
			"[]", nil, "[true,36]", "",
		},
		{"body by name", `function () { for (var i = 0; i < 10; i++) getContext().getResponse().appendValue("Body", i); }`, "[]", nil, `"0123456789"`, ""},
		{"body back", `function () { for (var i = 0; i < 5; i++) { if (i > 0 && getContext().getResponse().getBody() !== i - 1) throw "differs"; getContext().getResponse().setBody(i); } }`, "[]", nil, "4", ""},
		{"errors of promises are swallowed", `function () { (async () => { throw new Error("x"); })(); }`, "[]", nil, `""`, ""},
		{"items left out of queries", `function () { __.createDocument(__.getSelfLink(), { id: "hidden", pk: "a" }, { indexAction: "exclude" }); }`, "[]", []string{three}, `""`, "1=1 2=2 3=3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.register(t, "sprocs", "import", bulkImport)
			for _, arguments := range c.before {
				if a := b.execute(t, "import", arguments); a.Status != http.StatusOK {
					t.Fatalf("import: %d %s", a.Status, a.Body)
				}
			}
			b.register(t, "sprocs", "p", c.body)
			a := b.execute(t, "p", c.arguments)
			if a.Status != http.StatusOK || (c.want != "" && string(a.Body) != c.want) {
				t.Errorf("got %d %s, want %s", a.Status, a.Body, c.want)
			}
			if left := b.ids(t); c.left != "" && left != c.left {
				t.Errorf("left %q, want %q", left, c.left)
			}
			if charge, err := strconv.ParseFloat(a.Header.Get("x-ms-request-charge"), 64); err != nil || charge < 1 {
				t.Errorf("charge %q", a.Header.Get("x-ms-request-charge"))
			}
		})
	}
}
