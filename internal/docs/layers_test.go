package docs

import (
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	layerNode  = regexp.MustCompile(`(?m)^\s+(\w+)\["([\w/]+): `)
	layerArrow = regexp.MustCompile(`(?m)^\s+(\w+)(?:\[".*?"\])? --> (.+)$`)
)

// The picture of docs/internals.md has each package of the library, an arrow or more for each import, and no other arrow.
func TestThePictureOfTheLayersIsTrue(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(top, "docs", "internals.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, picture, _ := strings.Cut(string(page), "## The layers")
	_, picture, _ = strings.Cut(picture, "```mermaid")
	picture, _, found := strings.Cut(picture, "```")
	if !found {
		t.Fatal("docs/internals.md has no picture of the layers")
	}
	packages, drawn := map[string]string{}, map[string][]string{}
	for _, m := range layerNode.FindAllStringSubmatch(picture, -1) {
		packages[m[1]] = m[2]
	}
	for _, m := range layerArrow.FindAllStringSubmatch(picture, -1) {
		for to := range strings.SplitSeq(m[2], " & ") {
			if packages[m[1]] == "" || packages[to] == "" {
				t.Errorf("the arrow from %s to %s has an end that is no package", m[1], to)
			}
			drawn[packages[m[1]]] = append(drawn[packages[m[1]]], packages[to])
		}
	}
	imports := libraryImports(t)
	for from, all := range imports {
		if !slices.Contains(slices.Collect(maps.Values(packages)), from) {
			t.Errorf("the picture lacks %s", from)
		}
		for _, to := range all {
			if !reaches(drawn, from, to) {
				t.Errorf("%s imports %s, to which no arrows lead", from, to)
			}
		}
	}
	for from, all := range drawn {
		for _, to := range all {
			if !reaches(imports, from, to) {
				t.Errorf("an arrow leads from %s to %s, which it does not import", from, to)
			}
		}
	}
	if len(imports) < 15 {
		t.Errorf("only %d packages were found", len(imports))
	}
}

// libraryImports are the packages of the library, each with those that it imports; the sample counts as one.
func libraryImports(t *testing.T) map[string][]string {
	t.Helper()
	// Tools, tests' own packages and the emulator are no part of it.
	others := []string{"docs", "emulatortest", "internal/buildcost", "internal/costs", "internal/docs"}
	belongs := func(name string) bool {
		return !slices.ContainsFunc(others, func(o string) bool { return name == o || strings.HasPrefix(name, o+"/") })
	}
	layer := func(name string) string {
		if first, _, _ := strings.Cut(name, "/"); first == "sample" {
			return first
		}
		return name
	}
	imports := map[string][]string{}
	for _, file := range tree(t) {
		from := layer(path.Dir(file))
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") || strings.Contains(file, "testdata/") || from == "." || !belongs(from) {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(top, filepath.FromSlash(file)), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		if _, known := imports[from]; !known {
			imports[from] = nil // one without imports is in the picture too
		}
		for _, spec := range parsed.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			to, inside := strings.CutPrefix(name, module+"/")
			if to = layer(to); inside && to != from && belongs(to) {
				imports[from] = append(imports[from], to)
			}
		}
	}
	return imports
}

// reaches says whether arrows lead from one package to another.
func reaches(arrows map[string][]string, from, to string) bool {
	return slices.ContainsFunc(arrows[from], func(next string) bool { return next == to || reaches(arrows, next, to) })
}
