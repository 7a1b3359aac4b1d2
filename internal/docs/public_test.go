package docs

import (
	"go/types"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// The package that a newcomer reads first stays small enough to be read.
func TestRepositoryHasFewNames(t *testing.T) {
	t.Parallel()
	list := exec.CommandContext(t.Context(), "go", "doc", "-short", "./repository")
	list.Dir = top
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(out), "\n"); n < 40 || n > 60 {
		t.Errorf("go doc -short ./repository has %d lines, and at most 60 are wanted:\n%s", n, out)
	}
}

// publicPackages are those that a program outside this module can import, but for commands, examples and tests.
func publicPackages(t *testing.T, w *world) []*types.Package {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-f", "{{if ne .Name \"main\"}}{{.ImportPath}}{{end}}", "./...")
	list.Dir = top
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	var pkgs []*types.Package
	for _, path := range strings.Fields(string(out)) {
		rel := strings.TrimPrefix(path, module+"/")
		if strings.Contains(path, "/internal/") || strings.HasPrefix(rel, "docs/") || strings.HasPrefix(rel, "sample") {
			continue
		}
		pkg, err := w.imports.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, pkg)
	}
	return pkgs
}

// Whatever a program can reach is there for programs: no exported function, method or field takes or returns a type of an
// internal package that no public package has a name for.
func TestNothingPublicIsForInternalUse(t *testing.T) {
	t.Parallel()
	pkgs := publicPackages(t, newWorld(t))
	named := map[*types.TypeName]bool{} // internal types with a public name
	for _, pkg := range pkgs {
		for _, id := range pkg.Scope().Names() {
			if alias, ok := pkg.Scope().Lookup(id).Type().(*types.Alias); ok && alias.Obj().Exported() {
				if to, ok := types.Unalias(alias).(*types.Named); ok {
					named[to.Origin().Obj()] = true
				}
			}
		}
	}
	looked := 0
	for _, pkg := range pkgs {
		for _, id := range pkg.Scope().Names() {
			obj := pkg.Scope().Lookup(id)
			if !obj.Exported() {
				continue
			}
			looked++
			check := func(what string, typ types.Type) {
				if unnamed := internalIn(typ, named); unnamed != "" {
					t.Errorf("%s.%s%s is of %s, which no public package names", pkg.Name(), id, what, unnamed)
				}
			}
			if _, isType := obj.(*types.TypeName); !isType {
				check("", obj.Type())
				continue
			}
			typ := types.Unalias(obj.Type())
			set := types.NewMethodSet(types.NewPointer(typ))
			for i := range set.Len() {
				if m := set.At(i).Obj(); m.Exported() {
					check("."+m.Name(), m.Type())
				}
			}
			if fields, ok := typ.Underlying().(*types.Struct); ok {
				for i := range fields.NumFields() {
					if f := fields.Field(i); f.Exported() {
						check("."+f.Name(), f.Type())
					}
				}
			}
		}
	}
	if looked < 400 {
		t.Errorf("only %d exported names were found", looked)
	}
}

// internalIn names an internal type that a type is made of, unless it has a public name.
func internalIn(typ types.Type, named map[*types.TypeName]bool) string {
	switch typ := typ.(type) {
	case *types.Alias:
		return internalIn(types.Unalias(typ), named)
	case *types.Named:
		for arg := range typ.TypeArgs().Types() {
			if found := internalIn(arg, named); found != "" {
				return found
			}
		}
		obj := typ.Origin().Obj()
		if obj.Pkg() != nil && strings.HasPrefix(obj.Pkg().Path(), module) && strings.Contains(obj.Pkg().Path(), "/internal/") && !named[obj] {
			return obj.Pkg().Name() + "." + obj.Name()
		}
	case *types.Map:
		return internalIn(typ.Key(), named) + internalIn(typ.Elem(), named)
	case interface{ Elem() types.Type }: // pointers, slices, arrays, channels
		return internalIn(typ.Elem(), named)
	case *types.Signature:
		for _, tuple := range []*types.Tuple{typ.Params(), typ.Results()} {
			for v := range tuple.Variables() {
				if found := internalIn(v.Type(), named); found != "" {
					return found
				}
			}
		}
	}
	return ""
}

// secretField matches fields that hold what must not be printed.
var secretField = regexp.MustCompile(`(?i)^(key|.*(secret|password|connectionstring|cursorkey|accountkey|credentialkey))$`)

// Every exported struct with a secret in a field prints itself without it. TestConfigurationsAreNotPrintedWithTheirSecrets
// of package registry looks at what is printed.
func TestStructsWithSecretsPrintThemselves(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for _, pkg := range publicPackages(t, newWorld(t)) {
		for _, id := range pkg.Scope().Names() {
			obj, ok := pkg.Scope().Lookup(id).(*types.TypeName)
			if !ok || !obj.Exported() {
				continue
			}
			fields, ok := types.Unalias(obj.Type()).Underlying().(*types.Struct)
			if !ok {
				continue
			}
			for i := range fields.NumFields() {
				f := fields.Field(i)
				text := types.TypeString(f.Type().Underlying(), nil)
				if !f.Exported() || !secretField.MatchString(f.Name()) || text != "string" && text != "[]byte" {
					continue
				}
				name := pkg.Name() + "." + id
				if name == "history.Call" { // whose Key names a document
					continue
				}
				found[name] = true
				set := types.NewMethodSet(obj.Type())
				for _, m := range []string{"String", "GoString", "LogValue", "MarshalJSON"} {
					if set.Lookup(pkg, m) == nil {
						t.Errorf("%s has a field %s and no method %s of its value", name, f.Name(), m)
					}
				}
			}
		}
	}
	for _, want := range []string{"registry.ClientConfig", "registry.Config", "repository.Config", "emulator.Options"} {
		if !found[want] {
			t.Errorf("%s was not found", want)
		}
	}
}
