package docs

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// An Example is shown beside what its name says, or nowhere: methods of a type
// with an alias are those of the type behind it.
func TestEveryExampleIsShownWithAName(t *testing.T) {
	t.Parallel()
	for _, dir := range append([]string{"emulatortest", "emulatortest/emulator"}, withExamples...) {
		names, err := filepath.Glob(filepath.Join("..", "..", dir, "*.go"))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v", dir, err)
		}
		set := token.NewFileSet()
		var files []*ast.File
		for _, name := range names {
			file, err := parser.ParseFile(set, name, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		pkg, err := doc.NewFromFiles(set, files, module+"/"+dir)
		if err != nil {
			t.Fatal(err)
		}
		shown := shownExamples(pkg)
		for _, file := range files {
			for _, decl := range file.Decls {
				f, ok := decl.(*ast.FuncDecl)
				if ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Example") && !slices.Contains(shown, strings.TrimPrefix(f.Name.Name, "Example")) {
					t.Errorf("%s: %s is shown nowhere: there is no exported name that it begins with", dir, f.Name.Name)
				}
			}
		}
	}
}

func shownExamples(pkg *doc.Package) (names []string) {
	add := func(of []*doc.Example) {
		for _, e := range of {
			names = append(names, e.Name)
		}
	}
	add(pkg.Examples)
	for _, f := range pkg.Funcs {
		add(f.Examples)
	}
	for _, t := range pkg.Types {
		add(t.Examples)
		for _, f := range append(t.Funcs, t.Methods...) {
			add(f.Examples)
		}
	}
	return names
}
