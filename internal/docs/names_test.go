package docs

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// documented are the packages whose names the pages use, by the name in front of the dot.
var documented = []string{
	"tenantitem", "tenantitem/epk", "repository", "parented", "registry", "denorm", "denorm/changefeed",
	"emulatortest", "emulatortest/emulator", "emulatortest/history",
}

// quotedName is a name of a package, or of a type of it, in a page.
var quotedName = regexp.MustCompile("`\\*?(" + `[a-z]+)\.([A-Z]\w*)(?:\[[^\]]*\])?(?:\.([A-Z]\w*))?`)

// Every exported name that a page gives with its package exists.
func TestEveryNameInThePagesExists(t *testing.T) {
	t.Parallel()
	names := map[string]map[string]bool{}
	for _, dir := range documented {
		names[filepath.Base(dir)] = exported(t, filepath.Join(top, filepath.FromSlash(dir)))
	}
	found := 0
	for page, text := range pages(t) {
		for _, m := range quotedName.FindAllStringSubmatch(text, -1) {
			known, ok := names[m[1]]
			if !ok {
				continue
			}
			found++
			name := m[2]
			if m[3] != "" {
				name += "." + m[3]
			}
			if !known[name] {
				t.Errorf("%s: %s.%s does not exist", filepath.Base(page), m[1], name)
			}
		}
	}
	if found < 50 {
		t.Errorf("only %d names were found in the pages", found)
	}
}

// exported are a package's names, and the methods and fields of its types as "Type.Name".
func exported(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, file)
	}
	p, err := doc.NewFromFiles(fset, parsed, dir)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	values := func(all []*doc.Value) {
		for _, v := range all {
			for _, name := range v.Names {
				names[name] = true
			}
		}
	}
	funcs := func(of string, all []*doc.Func) {
		for _, f := range all {
			names[of+f.Name] = true
		}
	}
	values(p.Consts)
	values(p.Vars)
	funcs("", p.Funcs)
	for _, typ := range p.Types {
		names[typ.Name] = true
		values(typ.Consts)
		values(typ.Vars)
		funcs("", typ.Funcs)
		funcs(typ.Name+".", typ.Methods)
		for _, spec := range typ.Decl.Specs {
			fields(spec.(*ast.TypeSpec), names)
		}
	}
	return names
}

func fields(spec *ast.TypeSpec, names map[string]bool) {
	var list []*ast.Field
	switch typ := spec.Type.(type) {
	case *ast.StructType:
		list = typ.Fields.List
	case *ast.InterfaceType:
		list = typ.Methods.List
	}
	for _, field := range list {
		for _, name := range field.Names {
			names[spec.Name.Name+"."+name.Name] = true
		}
	}
}
