package store

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// The paths that every indexing policy has in one of its lists.
const (
	rootPath = "/*"
	etagPath = `/"_etag"/?`
	// shortRoot stands for rootPath too, and is kept as that.
	shortRoot = "/"
)

// fillPolicies completes what a replace may change too.
func fillPolicies(n *node, v value.Value) error {
	if err := checkSearch(v); err != nil {
		return err
	}
	if err := checkEncryption(v); err != nil {
		return err
	}
	if policy := n.get("indexingPolicy"); policy == nil || !policy.isObject() {
		n.set("indexingPolicy", leaf(defaultIndexingPolicy))
	} else if err := fillIndexing(policy, v.Get("indexingPolicy")); err != nil {
		return err
	}
	n.setDefault("conflictResolutionPolicy", defaultConflictPolicy)
	n.setDefault("geospatialConfig", `{"type":"Geography"}`)
	return nil
}

func fillIndexing(policy *node, v value.Value) error {
	mode, ok := v.Get("indexingMode").Str()
	if !ok || mode == "" {
		mode = "consistent"
	}
	mode = strings.ToLower(mode)
	if mode != "consistent" && mode != "none" && mode != "lazy" {
		return badRequest("The indexing mode is invalid: it should be consistent or none.")
	}
	policy.set("indexingMode", stringNode(mode))
	automatic, ok := v.Get("automatic").Bool()
	if !ok {
		policy.set("automatic", leaf(strconv.FormatBool(mode != "none")))
	}
	if mode == "none" {
		if ok && automatic {
			return badRequest("The indexing policy is invalid: mode none needs automatic to be false.")
		}
		return nil
	}
	return fillPaths(policy, v)
}

// fillPaths completes the two lists of paths: a missing one is filled in, and the etag is excluded unless the policy says otherwise.
func fillPaths(policy *node, v value.Value) error {
	included, err := listedPaths(v.Get("includedPaths"))
	if err != nil {
		return err
	}
	excluded, err := listedPaths(v.Get("excludedPaths"))
	if err != nil {
		return err
	}
	for _, p := range included {
		if slices.ContainsFunc(excluded, p.same) {
			return badRequest("The indexing path '%s' is in both lists of the indexing policy.", p.path)
		}
	}
	isRoot := (indexedPath{path: rootPath}).same
	switch {
	case slices.ContainsFunc(included, isRoot) || slices.ContainsFunc(excluded, isRoot):
	case len(included) == 0:
		included = []indexedPath{plainPath(rootPath)}
	default:
		return badRequest("The special mandatory indexing path \"/*\" is not provided in any of the path type sets. Please provide such path in one of the sets.")
	}
	isETag := (indexedPath{path: etagPath}).same
	if !slices.ContainsFunc(included, isETag) && !slices.ContainsFunc(excluded, isETag) {
		excluded = append(excluded, plainPath(etagPath))
	}
	policy.set("includedPaths", listNode(included))
	policy.set("excludedPaths", listNode(excluded))
	return nil
}

// indexedPath is an entry of a list of paths, with whatever else the client put there.
type indexedPath struct {
	path  string
	entry value.Value
}

func (p indexedPath) same(other indexedPath) bool { return p.path == other.path }

func plainPath(path string) indexedPath {
	return indexedPath{path, value.FromObject([]value.Member{{Name: "path", Value: value.FromString(path)}})}
}

func listNode(paths []indexedPath) *node {
	entries := make([]value.Value, len(paths))
	for i, p := range paths {
		entries[i] = p.entry
	}
	return leaf(value.FromArray(entries).String())
}

func listedPaths(v value.Value) ([]indexedPath, error) {
	entries, ok := v.Array()
	if !ok && !v.IsUndefined() && v.Kind() != value.Null {
		return nil, badRequest("The indexing policy is invalid: includedPaths and excludedPaths are lists of objects with a path.")
	}
	var paths []indexedPath
	for _, entry := range entries {
		text, ok := entry.Get("path").Str()
		if !ok {
			return nil, badRequest("The indexing policy is invalid: includedPaths and excludedPaths are lists of objects with a path.")
		}
		if text == shortRoot {
			paths = append(paths, plainPath(rootPath))
			continue
		}
		if at := badPathAt(text); at >= 0 {
			return nil, badRequest("The indexing path '%s' could not be accepted, failed near position '%d'. Please ensure that the path is a valid "+
				"path. Common errors include invalid characters or absence of quotes around labels.", text, at)
		}
		paths = append(paths, indexedPath{text, entry})
	}
	return paths, nil
}

// badPathAt checks a path such as /a/"b c"/[]/? and gives the byte at which it goes wrong; -1 when it doesn't. Labels of other characters than
// letters, digits and _ stand in quotes, [] means the elements of an array, and the end is ? for a scalar or * for all below.
func badPathAt(path string) int {
	at := 0
	for {
		if at >= len(path) || path[at] != '/' {
			return at
		}
		at++
		rest := path[at:]
		switch {
		case rest == "?":
			if at == 1 {
				return at // the root is no scalar
			}
			return -1
		case rest == "*":
			return -1
		case strings.HasPrefix(rest, "[]"):
			at += len("[]")
		case strings.HasPrefix(rest, `"`):
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return at
			}
			at += len(quoted)
		default:
			end := strings.IndexFunc(rest, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
			if end <= 0 {
				return at
			}
			at += end
		}
	}
}
