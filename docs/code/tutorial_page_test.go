package code

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Who does what docs/tutorial.md says, and nothing else, has the files of each step: a block that begins with
// "package" is a file, any other adds its declarations to the file or takes the place of those of the same names.
func TestTutorialLeavesNothingOut(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../tutorial.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)<!-- snippet: (\\S+)[^>]* -->\n```go\n(.*?\n)```\n")
	steps := regexp.MustCompile(`(?m)^## \d+\. `).Split(string(page), -1)[1:]
	if len(steps) != 5 {
		t.Fatalf("the page has %d steps", len(steps))
	}
	reader := map[string]map[string]string{} // what a reader has: declarations by file and name
	for number, step := range steps {
		for _, m := range block.FindAllStringSubmatch(step, -1) {
			file, code := filepath.Base(m[1]), m[2]
			if strings.HasPrefix(code, "package ") {
				reader[file] = map[string]string{}
			} else {
				code = "package main\n" + code
			}
			if reader[file] == nil {
				reader[file] = map[string]string{}
			}
			maps.Copy(reader[file], declarations(t, code))
		}
		files, err := filepath.Glob(filepath.Join("testdata", "tutorial", "step"+string(rune('1'+number)), "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatal(err, files)
		}
		for _, path := range files {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want, got := declarations(t, string(text)), reader[filepath.Base(path)]
			for _, name := range slices.Sorted(maps.Keys(want)) {
				if got[name] != want[name] {
					t.Errorf("%s: %q is not what the page shows up to there", path, name)
				}
			}
			for name := range got {
				if _, there := want[name]; !there {
					t.Errorf("%s has no %q, which the page shows", path, name)
				}
			}
		}
	}
}

// declarations are those of a file, formatted and without comments, by their names; the imports have one name.
func declarations(t *testing.T, code string) map[string]string {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", code, 0)
	if err != nil {
		t.Fatalf("%v in\n%s", err, code)
	}
	found := map[string]string{}
	for _, decl := range file.Decls {
		name := "imports"
		switch d := decl.(type) {
		case *ast.FuncDecl:
			name = d.Name.Name
		case *ast.GenDecl:
			if spec, ok := d.Specs[0].(*ast.TypeSpec); ok {
				name = spec.Name.Name
			}
		}
		var text bytes.Buffer
		if err := format.Node(&text, fset, decl); err != nil {
			t.Fatal(err)
		}
		found[name] = text.String()
	}
	return found
}
