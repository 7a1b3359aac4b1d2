package scenarios_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The table of docs/internals.md has a row for each scenario of this package, and no other.
func TestTheTableOfScenariosIsComplete(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/internals.md")
	must(t, err)
	var listed []string
	for _, row := range regexp.MustCompile("(?m)^\\| `(Test\\w+)` \\|").FindAllStringSubmatch(string(page), -1) {
		listed = append(listed, row[1])
	}
	files, err := filepath.Glob("*_test.go")
	must(t, err)
	var there []string
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		must(t, err)
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && strings.HasPrefix(f.Name.Name, "Test") && f.Name.Name != "TestMain" && f.Name.Name != t.Name() {
				there = append(there, f.Name.Name)
			}
		}
	}
	for _, name := range there {
		if !slices.Contains(listed, name) {
			t.Errorf("docs/internals.md has no row for %s", name)
		}
	}
	for _, name := range listed {
		if !slices.Contains(there, name) {
			t.Errorf("docs/internals.md has a row for %s, which is not in this package", name)
		}
	}
}
