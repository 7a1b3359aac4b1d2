package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestExportAndImport takes a database out of one emulator and puts it into two others: by -seed and by import.
func TestExportAndImport(t *testing.T) {
	t.Parallel()
	seed := t.TempDir()
	container := filepath.Join(seed, "the%2Eshop", "items%20of%20all")
	write(t, filepath.Join(container, propertiesFile), `{"partitionKey":{"paths":["/tenant","/kind/name"],"kind":"MultiHash"},"defaultTtl":-1,"note":"kept"}`)
	write(t, filepath.Join(container, itemsFile), `{"id":"1","tenant":"t","kind":{"name":"k"},"n":12345678901234567890}`+"\n\n"+
		`{"id":"2","tenant":"t","kind":{}}`+"\n"+`{"id":"a.b","tenant":null,"kind":{"name":true}}`)
	write(t, filepath.Join(container, "udfs.jsonl"), `{"id":"f","body":"function () { return 1; }"}`)
	first := launch(t, "-seed", seed)
	second := launch(t)

	dir := t.TempDir()
	for _, args := range [][]string{
		{"export", "-endpoint", first.exports["COSMOS_ENDPOINT"], "-database", "the.shop", dir},
		{"import", "-endpoint", second.exports["COSMOS_ENDPOINT"], dir},
		{"import", "-endpoint", second.exports["COSMOS_ENDPOINT"], dir}, // again: what is there is replaced
	} {
		var out, errs strings.Builder
		if exit := run(t.Context(), args, &out, &errs); exit != exitOK || !strings.Contains(out.String(), "1 containers, 3 items, 1 scripts") {
			t.Fatalf("%s: exit %d, said %q and %q", args[0], exit, out.String(), errs.String())
		}
	}
	link := "dbs/the.shop/colls/items of all"
	if n := count(t, second.account(), link+"/docs", "Documents"); n != 3 {
		t.Errorf("%d items, want 3", n)
	}
	read, err := second.account().do(t.Context(), http.MethodGet, link, nil)
	if err != nil || !strings.Contains(string(read.body), `"note":"kept"`) || !strings.Contains(string(read.body), "kind/name") {
		t.Errorf("the container is %s, %v", read.body, err)
	}
	var properties map[string]any
	text, err := os.ReadFile(filepath.Join(dir, "the%2Eshop", "items%20of%20all", propertiesFile))
	if err == nil {
		err = json.Unmarshal(text, &properties)
	}
	if err != nil || properties["_rid"] != nil || properties["id"] != "items of all" {
		t.Errorf("exported %s, %v", text, err)
	}
	again := t.TempDir()
	if exit := run(t.Context(), []string{"export", "-endpoint", second.exports["COSMOS_ENDPOINT"], again}, io.Discard, io.Discard); exit != exitOK {
		t.Errorf("export of what was imported: exit %d", exit)
	}
	if same, err := os.ReadFile(filepath.Join(again, "the%2Eshop", "items%20of%20all", propertiesFile)); err != nil || string(same) != string(text) {
		t.Errorf("exported again it is %s, %v; want %s", same, err, text)
	}
	var out, errs strings.Builder
	if exit := run(t.Context(), []string{"export", "-endpoint", first.exports["COSMOS_ENDPOINT"], "-database", "none", dir}, &out, &errs); exit != exitFailure ||
		!strings.Contains(errs.String(), `no database "none"`) {
		t.Errorf("a database that is missing: exit %d, said %q", exit, errs.String())
	}
	// What it says is complete once it has ended.
	if status := first.kill(syscall.SIGTERM); status != exitOK || !strings.Contains(first.errs.String(), "seed: 1 databases, 1 containers, 3 items, 1 scripts") {
		t.Errorf("exit %d, said %q", status, first.errs)
	}
}

func TestImportNamesTheLineThatFails(t *testing.T) {
	t.Parallel()
	seed := t.TempDir()
	write(t, filepath.Join(seed, "db", "c", propertiesFile), `{"partitionKey":{"paths":["/pk"]}}`)
	for _, c := range []struct{ items, says string }{
		{`{"id":"1","pk":"a"}` + "\n" + `{"id":"2"`, "items.jsonl, line 2: a line of items is no JSON"},
		{"\n" + `{"pk":"a"}`, "items.jsonl, line 2: POST dbs/db/colls/c/docs: 400"},
	} {
		write(t, filepath.Join(seed, "db", "c", itemsFile), c.items)
		var out, errs strings.Builder
		if exit := run(t.Context(), []string{"-listen", "127.0.0.1:0", "-seed", seed}, &out, &errs); exit != exitFailure || !strings.Contains(errs.String(), c.says) {
			t.Errorf("exit %d, said %q, want %q", exit, errs.String(), c.says)
		}
	}
}

func TestKeyHeader(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ item, paths, want string }{
		{`{"pk":"a"}`, `["/pk"]`, `["a"]`},
		{`{"pk":1.5}`, `["/pk"]`, `[1.5]`},
		{`{"pk":null}`, `["/pk"]`, `[null]`},
		{`{}`, `["/pk"]`, `[{}]`},
		{`{"a":{"b c":true}}`, `["/a/\"b c\""]`, `[true]`},
		{`{"a":"x"}`, `["/a","/b"]`, `["x",{}]`},
		{`{"a":"x"}`, `["/a/b"]`, `[{}]`},
	} {
		var paths []any
		if err := json.Unmarshal([]byte(c.paths), &paths); err != nil {
			t.Fatal(err)
		}
		got, err := keyHeader([]byte(c.item), keyPaths(map[string]any{"partitionKey": map[string]any{"paths": paths}}))
		if err != nil || got != c.want {
			t.Errorf("%s of %s: %s, %v; want %s", c.paths, c.item, got, err, c.want)
		}
	}
}
