package docs

import (
	"bytes"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/cosmosgrove/grove"

// withExamples are the public packages of which every exported function, method and type is used by an Example.
var withExamples = []string{
	"tenantitem", "tenantitem/epk", "repository", "repository/layout", "repository/ceiling", "repository/httpapi", "repository/partition",
	"parented", "registry", "denorm", "denorm/changefeed",
}

// byInterface are methods that a program calls through an interface of the standard library: an Example of their type shows
// them, as it does those of an interface.
var byInterface = []string{
	"Error", "Unwrap", "Is", "String", "GoString", "LogValue", "MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText",
	"MarshalJSONTo", "UnmarshalJSONFrom",
}

// Whatever a program may call or name, an Example of its package calls or names:
// a function or a method in the Example, or in the types that the Example
// declares beside it; a type there too, or by a value of it.
func TestEveryExportedNameHasAnExample(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	names := 0
	for _, dir := range withExamples {
		pkg, err := world.imports.Import(module + "/" + dir)
		if err != nil {
			t.Fatal(err)
		}
		used := world.usedInExamples(t, dir)
		for _, name := range exportedOf(pkg) {
			names++
			if !slices.ContainsFunc(name.keys, func(k string) bool { return used[k] }) {
				t.Errorf("%s: no Example uses %s", dir, name.text)
			}
		}
	}
	if names < 300 {
		t.Errorf("only %d exported names were found", names)
	}
}

// name is an exported name of a package, and the declarations one of which an Example has to use.
type name struct {
	text string
	keys []string
}

// exportedOf are the functions, the types and the types' methods that a package exports, in their order in the alphabet.
func exportedOf(pkg *types.Package) []name {
	var out []name
	same := repeatedMethods(pkg)
	for _, id := range pkg.Scope().Names() {
		switch obj := pkg.Scope().Lookup(id).(type) {
		case *types.Func:
			if obj.Exported() {
				out = append(out, name{id, []string{key(obj)}})
			}
		case *types.TypeName:
			if !obj.Exported() {
				continue
			}
			keys := typeKeys(obj.Type())
			out = append(out, name{id, keys})
			for _, m := range methodsOf(pkg, obj.Type()) {
				of := append([]string{key(m)}, same[key(m)]...)
				if slices.Contains(byInterface, m.Name()) || types.IsInterface(obj.Type()) {
					of = keys
				}
				out = append(out, name{id + "." + m.Name(), of})
			}
		}
	}
	return out
}

// repeatedMethods are the methods that a type repeats of what is in one of its
// fields, as a scope does those of its reader: an Example of one shows both.
func repeatedMethods(pkg *types.Package) map[string][]string {
	same := map[string][]string{}
	for _, id := range pkg.Scope().Names() {
		outer, ok := pkg.Scope().Lookup(id).Type().(*types.Named)
		if !ok {
			continue
		}
		fields, ok := outer.Underlying().(*types.Struct)
		if !ok {
			continue
		}
		for i := range fields.NumFields() {
			inner, ok := fields.Field(i).Type().(*types.Named)
			if !ok || fields.Field(i).Embedded() || !fields.Field(i).Exported() || inner.Obj().Pkg() != pkg {
				continue
			}
			for _, a := range methodsOf(pkg, outer) {
				for _, b := range methodsOf(pkg, inner) {
					if a.Name() == b.Name() {
						same[key(a)], same[key(b)] = append(same[key(a)], key(b)), append(same[key(b)], key(a))
					}
				}
			}
		}
	}
	return same
}

// methodsOf are the exported methods of a type and of a pointer to it, without those that another public package or type declares.
func methodsOf(pkg *types.Package, typ types.Type) []*types.Func {
	var out []*types.Func
	if !types.IsInterface(typ) {
		typ = types.NewPointer(typ)
	}
	set := types.NewMethodSet(typ)
	for i := range set.Len() {
		m, ok := set.At(i).Obj().(*types.Func)
		if !ok || !m.Exported() || !strings.HasPrefix(m.Pkg().Path(), module) {
			continue
		}
		if public := !strings.Contains(m.Pkg().Path(), "/internal/"); public && m.Pkg() != pkg {
			continue
		}
		if own := len(set.At(i).Index()) == 1; !own && receiver(m) != nil && receiver(m).Exported() && m.Pkg() == pkg {
			continue
		}
		out = append(out, m.Origin())
	}
	return out
}

// world type-checks the packages' tests with the compiled packages that they import.
type world struct {
	fset    *token.FileSet
	imports types.Importer
}

func newWorld(t *testing.T) *world {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-f", "{{if .Export}}{{.ImportPath}} {{.Export}}{{end}}", "./...")
	list.Dir = top
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	compiled := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		compiled[path] = file
	}
	w := &world{fset: token.NewFileSet()}
	w.imports = importer.ForCompiler(w.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(compiled[path]) })
	return w
}

// usedInExamples are the declarations that the Examples of a package use.
func (w *world) usedInExamples(t *testing.T, dir string) map[string]bool {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(top, filepath.FromSlash(dir), "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	inside, outside := []*ast.File{}, []*ast.File{}
	for _, path := range paths {
		file, err := parser.ParseFile(w.fset, path, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file.Name.Name, "_test") {
			outside = append(outside, file)
		} else {
			inside = append(inside, file)
		}
	}
	used := map[string]bool{}
	w.collect(module+"/"+dir, inside, used)
	w.collect(module+"/"+dir+"_test", outside, used)
	return used
}

// collect type-checks the files of a package and adds what their Examples use.
func (w *world) collect(path string, files []*ast.File, used map[string]bool) {
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
	}
	// Names of other tests need not be known: what an Example uses is.
	config := types.Config{Importer: w.imports, Error: func(error) {}}
	_, _ = config.Check(path, w.fset, files, info)

	declared := map[types.Object][]ast.Node{} // the tests' own types, with their methods
	var todo []ast.Node
	for _, file := range files {
		if !strings.HasSuffix(w.fset.File(file.Pos()).Name(), "_test.go") {
			continue
		}
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if s, ok := spec.(*ast.TypeSpec); ok {
						declared[info.Defs[s.Name]] = append(declared[info.Defs[s.Name]], s)
					}
				}
			case *ast.FuncDecl:
				m, _ := info.Defs[d.Name].(*types.Func)
				if m != nil && receiver(m) != nil {
					declared[receiver(m)] = append(declared[receiver(m)], d)
				} else if strings.HasPrefix(d.Name.Name, "Example") && runs(d, file) {
					todo = append(todo, d.Body)
				}
			}
		}
	}
	for len(todo) > 0 {
		node := todo[0]
		todo = todo[1:]
		ast.Inspect(node, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok {
				for _, k := range typeKeys(info.Types[e].Type) {
					used[k] = true
				}
			}
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			obj := info.Uses[id]
			if obj == nil {
				obj = info.Defs[id]
			}
			if obj == nil {
				return true
			}
			used[key(obj)] = true
			for _, k := range typeKeys(obj.Type()) {
				used[k] = true
			}
			todo = append(todo, declared[obj]...)
			delete(declared, obj)
			return true
		})
	}
}

// runs reports whether an Example says what it prints; the go tool compiles those that do not, and runs nothing.
func runs(example *ast.FuncDecl, file *ast.File) bool {
	return slices.ContainsFunc(file.Comments, func(c *ast.CommentGroup) bool {
		return c.Pos() > example.Body.Pos() && c.End() < example.Body.End() && strings.Contains(strings.ToLower(c.Text()), "output:")
	})
}

// key names a declaration alike in every package that sees it.
func key(obj types.Object) string {
	if obj.Pkg() == nil {
		return obj.Name()
	}
	of := obj.Pkg().Path() + "."
	if m, ok := obj.(*types.Func); ok {
		if r := receiver(m.Origin()); r != nil {
			of += r.Name() + "."
		}
	} else if obj.Parent() != obj.Pkg().Scope() {
		of += "(local)."
	}
	return of + obj.Name()
}

// receiver is the type that declares a method, nil for a function.
func receiver(m *types.Func) *types.TypeName {
	recv := m.Signature().Recv()
	if recv == nil {
		return nil
	}
	typ := types.Unalias(recv.Type())
	if p, ok := typ.(*types.Pointer); ok {
		typ = types.Unalias(p.Elem())
	}
	if named, ok := typ.(*types.Named); ok {
		return named.Origin().Obj()
	}
	return nil
}

// typeKeys are the declarations of a type, of what it points to, and of what it is another name of.
func typeKeys(typ types.Type) []string {
	switch typ := typ.(type) {
	case *types.Pointer:
		return typeKeys(typ.Elem())
	case *types.Alias:
		return append(typeKeys(typ.Rhs()), key(typ.Obj()))
	case *types.Named:
		return []string{key(typ.Obj())}
	}
	return nil
}
