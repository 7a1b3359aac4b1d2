package restapi

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
