package edge

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/script"
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

func TestStoredProceduresThatFailChangeNothing(t *testing.T) {
	t.Parallel()
	create := `__.createDocument(__.getSelfLink(), { id: "new", pk: "a" }`
	for _, c := range []struct {
		name, body string
		status     int
		substatus  string
		says       string
	}{
		{"throws", `function () { ` + create + `, function () { throw new Error("boom"); }); }`, 400, "", "Exception = Error: boom"},
		{"throws a number", `function () { ` + create + `); throw new Error(1234, "own code"); }`, 400, "1234", "own code"},
		{"aborts", `function () { ` + create + `, function () { (async () => getContext().abort(new Error(7, "stop")))(); }); }`, 400, "7", "stop"},
		{"conflict without a callback", `function () { ` + create + `); ` + create + `); }`, 400, "409", "already exists"},
		{"conflict thrown on", `function () { ` + create + `, function () { ` + create + `, function (err) { if (err) throw err; }); }); }`, 400, "409", "already exists"},
		{"another partition", `function () { ` + create + `); __.createDocument(__.getSelfLink(), { id: "x", pk: "b" }); }`, 400, "400", "PartitionKey extracted from document"},
		{"another container", `function () { ` + create + `); __.createDocument("dbs/db/colls/tree", { id: "x" }); }`, 400, "400", "outside current collection"},
		{"no link", `function () { __.createDocument("items", {}); }`, 400, "400", "Invalid collection link"},
		{"missing argument", `function () { __.createDocument(__.getSelfLink()); }`, 400, "400", "requires at least 2 argument(s)"},
		{"attachments", `function () { __.createAttachment(); }`, 400, "400", "not supported by this emulator"},
		{"missing document", `function () { ` + create + `); __.deleteDocument(__.getAltLink() + "/docs/none"); }`, 400, "404", "Resource Not Found"},
		{"document of another rid", `function () { ` + create + `); __.readDocument(__.getSelfLink() + "docs/AAAAAAAAAAAAAAAAAAAAAA=="); }`, 400, "404", "Resource Not Found"},
		{"query that does not parse", `function () { ` + create + `); __.queryDocuments(__.getSelfLink(), "SELECT"); }`, 400, "400", "Syntax"},
		{"stale etag", `function () { ` + create + `, function (e, made) { __.replaceDocument(made._self, made, { etag: '"x"' }); }); }`, 400, "412", "pre-condition"},
		{"response too large", `function () { ` + create + `); getContext().getResponse().setBody("x".repeat(5e6)); }`, 400, "413", "too large"},
		{"header that is not there", `function () { getContext().getResponse().setValue("x-none", 1); }`, 400, "400", "Cannot set new values"},
		{"request that can't be written", `function () { getContext().getRequest().setBody(1); }`, 400, "", "setBody"},
		{"no JavaScript", `function ( {`, 400, "", "while compiling Javascript"},
		{"endless loop", `function () { ` + create + `); while (true) {} }`, 408, "", "took longer"},
		{"endless chain of operations", `function () { more(); function more() { __.upsertDocument(__.getSelfLink(), { id: "new", pk: "a" }, more); } while (__.getSelfLink()) {} }`, 408, "", "took longer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			if c.status == http.StatusRequestTimeout {
				b.h.cfg.Scripts.Time = 200 * time.Millisecond
			}
			b.register(t, "sprocs", "p", c.body)
			a := b.execute(t, "p", "[]")
			if a.Status != c.status || a.Header.Get("x-ms-substatus") != c.substatus || !strings.Contains(string(a.Body), c.says) {
				t.Errorf("got %d/%s %s; want %d/%s with %q", a.Status, a.Header.Get("x-ms-substatus"), a.Body, c.status, c.substatus, c.says)
			}
			if left := b.ids(t); left != "" {
				t.Errorf("it left %q", left)
			}
		})
	}
}

// A procedure that works until it is no longer accepted hands back how far it came, and is called again.
func TestBoundedExecutionGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.h.cfg.Scripts = script.Limits{Charge: 50}
	b.register(t, "sprocs", "import", bulkImport)
	var items []map[string]any
	for i := range 30 {
		items = append(items, map[string]any{"id": strconv.Itoa(i), "pk": "a"})
	}
	calls := 0
	for ; len(items) > 0; calls++ {
		text, err := json.Marshal([]any{items})
		if err != nil {
			t.Fatal(err)
		}
		a := b.execute(t, "import", string(text))
		done, err := strconv.Atoi(string(a.Body))
		if err != nil || done == 0 {
			t.Fatalf("got %d %s", a.Status, a.Body)
		}
		items = items[done:]
	}
	if got := len(strings.Fields(b.ids(t))); got != 30 || calls < 3 {
		t.Errorf("%d items in %d calls; want 30 in several", got, calls)
	}
}

func TestScriptLog(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.register(t, "sprocs", "p", `function (x) { console.log("got %s of 100%% é", x); console.log(" and more"); if (x > 1) throw new Error("late"); }`)
	for _, c := range []struct {
		arguments string
		headers   []string
		want      string
	}{
		{"[1]", []string{"x-ms-documentdb-script-enable-logging", "true"}, "got 1 of 100% é and more"},
		{"[2]", []string{"x-ms-documentdb-script-enable-logging", "True"}, "got 2 of 100% é and more"},
		{"[1]", nil, ""},
	} {
		a := b.execute(t, "p", c.arguments, c.headers...)
		got, err := url.PathUnescape(a.Header.Get("x-ms-documentdb-script-log-results"))
		if err != nil || got != c.want {
			t.Errorf("got %q, %v; want %q", got, err, c.want)
		}
	}
}

func TestExecutionIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.register(t, "sprocs", "p", hello)
	b.register(t, "udfs", "f", hello)
	b.register(t, "triggers", "t", hello, "Pre", "All")
	for _, c := range []struct {
		name, path, body string
		headers          []string
		status           int
		substatus        string
	}{
		{"no key", procedures + "/p", "[]", nil, 400, ""},
		{"unknown", procedures + "/q", "[]", []string{keyHeader, `["a"]`}, 404, ""},
		{"container gone", "/dbs/db/colls/none/sprocs/p", "[]", []string{keyHeader, `["a"]`}, 404, "1003"},
		{"arguments that are no array", procedures + "/p", `{"a":1}`, []string{keyHeader, `["a"]`}, 400, ""},
		{"arguments that are no JSON", procedures + "/p", `[`, []string{keyHeader, `["a"]`}, 400, ""},
		{"with a trigger", procedures + "/p", "[]", []string{keyHeader, `["a"]`, "x-ms-documentdb-pre-trigger-include", "t"}, 400, ""},
		{"a function", "/dbs/db/colls/items/udfs/f", "[]", []string{keyHeader, `["a"]`}, 405, ""},
		{"range that is gone", procedures + "/p", "[]", []string{keyHeader, `["a"]`, "x-ms-documentdb-partitionkeyrangeid", "7"}, 410, "1002"},
	} {
		a := b.do(t, http.MethodPost, c.path, c.body, c.headers...)
		if a.Status != c.status || a.Header.Get("x-ms-substatus") != c.substatus {
			t.Errorf("%s: %d/%s %s", c.name, a.Status, a.Header.Get("x-ms-substatus"), a.Body)
		}
	}
}
