package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// go doc sorts types by their names. The comment of a package is where a newcomer reads them in the order in which one
// needs them, so it names them all.
func TestPackageDocsNameEveryType(t *testing.T) {
	t.Parallel()
	found := 0
	for _, dir := range append(slices.Clone(withExamples), "emulatortest", "emulatortest/emulator", "emulatortest/history") {
		files, err := filepath.Glob(filepath.Join(top, filepath.FromSlash(dir), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		named, types := map[string]bool{}, []string{}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			if file.Doc != nil {
				for _, name := range linkedIn(file.Doc) {
					named[name] = true
				}
			}
			types = append(types, exportedTypes(file)...)
		}
		found += len(types)
		for _, name := range types {
			if !named[name] {
				t.Errorf("the comment of package %s does not name [%s]", dir, name)
			}
		}
	}
	if found < 150 {
		t.Errorf("only %d types were found", found)
	}
}

// exportedTypes are the names of a file's exported types.
func exportedTypes(file *ast.File) []string {
	var names []string
	for _, decl := range file.Decls {
		types, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range types.Specs {
			if spec, ok := spec.(*ast.TypeSpec); ok && spec.Name.IsExported() {
				names = append(names, spec.Name.Name)
			}
		}
	}
	return names
}
