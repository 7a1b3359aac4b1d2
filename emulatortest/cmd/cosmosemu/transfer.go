package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A folder holds databases as folders of containers, their names escaped as in a URL. A container's folder has its
// properties in container.json, its items in items.jsonl, one to a line, and its scripts in files of the same form.
const (
	propertiesFile = "container.json"
	itemsFile      = "items.jsonl"
)

// scriptFeeds are the files of scripts, with the name of the entries in their feed.
var scriptFeeds = []struct{ feed, entries string }{
	{"sprocs", "StoredProcedures"}, {"triggers", "Triggers"}, {"udfs", "UserDefinedFunctions"},
}

// systemProperties are what the service adds to a resource; they are not exported.
var systemProperties = []string{
	"_rid", "_self", "_etag", "_ts", "_attachments", "_lsn", "_docs", "_sprocs", "_triggers", "_udfs", "_conflicts", "_colls", "_users",
}

// counts is what a transfer did.
type counts struct{ databases, containers, items, scripts int }

func (n counts) String() string {
	return fmt.Sprintf("%d databases, %d containers, %d items, %d scripts", n.databases, n.containers, n.items, n.scripts)
}

// export writes a database, or all of them, into a folder.
func (a *account) export(ctx context.Context, only, dir string) (n counts, err error) {
	err = a.each(ctx, "dbs", "Databases", func(database json.RawMessage) error {
		name := idOf(database)
		if only != "" && name != only {
			return nil
		}
		n.databases++
		link := "dbs/" + name
		return a.each(ctx, link+"/colls", "DocumentCollections", func(container json.RawMessage) error {
			n.containers++
			id := idOf(container)
			return a.exportContainer(ctx, link+"/colls/"+id, container, filepath.Join(dir, fileName(name), fileName(id)), &n)
		})
	})
	if err == nil && only != "" && n.databases == 0 {
		return n, fmt.Errorf("the account has no database %q", only)
	}
	return n, err
}

func (a *account) exportContainer(ctx context.Context, link string, properties json.RawMessage, dir string, n *counts) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("make a folder for %s: %w", link, err)
	}
	text, err := sorted(properties)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, propertiesFile), append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the properties of %s: %w", link, err)
	}
	if err := a.exportFeed(ctx, link+"/docs", "Documents", filepath.Join(dir, itemsFile), &n.items); err != nil {
		return err
	}
	for _, s := range scriptFeeds {
		if err := a.exportFeed(ctx, link+"/"+s.feed, s.entries, filepath.Join(dir, s.feed+".jsonl"), &n.scripts); err != nil {
			return err
		}
	}
	return nil
}

// sorted is a container's properties with all members in one order and a line for each, so that an export differs from
// another one only where the containers do.
func sorted(properties json.RawMessage) ([]byte, error) {
	text, err := withoutSystem(properties)
	if err != nil {
		return nil, err
	}
	var members any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&members); err != nil {
		return nil, fmt.Errorf("read the properties of a container: %w", err)
	}
	return json.MarshalIndent(members, "", "  ") //nolint:wrapcheck // what was decoded can be encoded
}

// exportFeed writes the entries of a feed, one to a line. A feed without entries makes no file.
func (a *account) exportFeed(ctx context.Context, link, entries, path string, n *int) (err error) {
	var file *os.File
	var out *bufio.Writer
	defer func() {
		if file != nil {
			err = errors.Join(err, out.Flush(), file.Close())
		}
	}()
	return a.each(ctx, link, entries, func(entry json.RawMessage) error {
		if file == nil {
			if file, err = os.Create(path); err != nil { //nolint:gosec // the folder that the user named
				return fmt.Errorf("write %s: %w", link, err)
			}
			out = bufio.NewWriter(file)
		}
		text, err := withoutSystem(entry)
		if err != nil {
			return err
		}
		*n++
		_, err = out.Write(append(text, '\n'))
		return err //nolint:wrapcheck // the file's own error names it
	})
}

// load reads a folder that export wrote, or one made by hand. Databases and containers that exist are kept, and items and
// scripts that exist are replaced.
func (a *account) load(ctx context.Context, dir string) (n counts, err error) {
	databases, err := folders(dir)
	if err != nil {
		return n, err
	}
	for _, d := range databases {
		database, err := url.PathUnescape(d)
		if err != nil {
			return n, fmt.Errorf("the folder %s is no escaped name: %w", d, err)
		}
		if err := a.create(ctx, "dbs", map[string]any{"id": database}); err != nil {
			return n, err
		}
		n.databases++
		containers, err := folders(filepath.Join(dir, d))
		if err != nil {
			return n, err
		}
		for _, c := range containers {
			if err := a.loadContainer(ctx, "dbs/"+database, filepath.Join(dir, d, c), &n); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

func (a *account) loadContainer(ctx context.Context, database, dir string, n *counts) error {
	text, err := os.ReadFile(filepath.Join(dir, propertiesFile)) //nolint:gosec // the folder that the user named
	if err != nil {
		return fmt.Errorf("read a container's properties: %w", err)
	}
	var properties map[string]any
	if err := json.Unmarshal(text, &properties); err != nil {
		return fmt.Errorf("read %s: %w", filepath.Join(dir, propertiesFile), err)
	}
	if _, named := properties["id"]; !named {
		if properties["id"], err = url.PathUnescape(filepath.Base(dir)); err != nil {
			return fmt.Errorf("the folder %s is no escaped name: %w", dir, err)
		}
	}
	if err := a.create(ctx, database+"/colls", properties); err != nil {
		return err
	}
	n.containers++
	link := fmt.Sprintf("%s/colls/%v", database, properties["id"])
	for _, s := range scriptFeeds {
		err := eachLine(filepath.Join(dir, s.feed+".jsonl"), func(line []byte) error {
			n.scripts++
			_, err := a.do(ctx, http.MethodPost, link+"/"+s.feed, line, "x-ms-documentdb-is-upsert", "True")
			return err
		})
		if err != nil {
			return err
		}
	}
	paths := keyPaths(properties)
	return eachLine(filepath.Join(dir, itemsFile), func(line []byte) error {
		key, err := keyHeader(line, paths)
		if err != nil {
			return err
		}
		n.items++
		_, err = a.do(ctx, http.MethodPost, link+"/docs", line, "x-ms-documentdb-is-upsert", "True", "x-ms-documentdb-partitionkey", key)
		return err
	})
}

// create makes a database or container unless it is there; headers are pairs of name and text.
func (a *account) create(ctx context.Context, feed string, resource map[string]any, headers ...string) error {
	body, err := json.Marshal(resource)
	if err != nil {
		return fmt.Errorf("write a resource: %w", err)
	}
	_, err = a.do(ctx, http.MethodPost, feed, body, headers...)
	if isStatus(err, http.StatusConflict) {
		return nil
	}
	return err
}

// keyPaths are the names on the way to each level of a container's partition key.
func keyPaths(properties map[string]any) [][]string {
	definition, _ := properties["partitionKey"].(map[string]any)
	list, _ := definition["paths"].([]any)
	paths := make([][]string, 0, len(list))
	for _, p := range list {
		text, _ := p.(string)
		names := strings.Split(strings.TrimPrefix(text, "/"), "/")
		for i := range names {
			names[i] = strings.Trim(names[i], `"`)
		}
		paths = append(paths, names)
	}
	return paths
}

// keyHeader is the partition key of an item in the form of its header. A level that is missing is {}.
func keyHeader(item []byte, paths [][]string) (string, error) {
	var v any
	if err := json.Unmarshal(item, &v); err != nil {
		return "", errors.New("a line of items is no JSON")
	}
	key := make([]any, len(paths))
	for i, path := range paths {
		at := v
		for _, name := range path {
			members, _ := at.(map[string]any)
			next, found := members[name]
			if !found {
				at = map[string]any{}
				break
			}
			at = next
		}
		key[i] = at
	}
	text, err := json.Marshal(key)
	return string(text), err //nolint:wrapcheck // what was JSON is JSON
}

// eachLine calls yield with every line that is not empty. A file that is missing has none.
func eachLine(path string, yield func([]byte) error) error {
	file, err := os.Open(path) //nolint:gosec // the folder that the user named
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the lines of a feed: %w", err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	in := bufio.NewReader(file)
	for number := 1; ; number++ {
		line, err := in.ReadBytes('\n')
		if text := strings.TrimSpace(string(line)); text != "" {
			if err := yield([]byte(text)); err != nil {
				return fmt.Errorf("%s, line %d: %w", path, number, err)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
	}
}

func folders(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read a folder: %w", err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// fileName escapes a name so that it is one folder, whatever it holds.
func fileName(id string) string { return strings.ReplaceAll(url.PathEscape(id), ".", "%2E") }

func idOf(resource json.RawMessage) string {
	var r struct{ ID string }
	_ = json.Unmarshal(resource, &r) // every resource has an id
	return r.ID
}

// withoutSystem drops what the service adds. Members are sorted by name; their text, numbers among it, stays as it is.
func withoutSystem(resource json.RawMessage) ([]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(resource, &members); err != nil {
		return nil, fmt.Errorf("read a resource: %w", err)
	}
	for _, name := range systemProperties {
		delete(members, name)
	}
	text, err := json.Marshal(members)
	return slices.Clip(text), err //nolint:wrapcheck // what was JSON is JSON
}
