package cosmos_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const (
	module = "github.com/cosmosgrove/grove"
	sdk    = "github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// Packages above name the SDK's types where their public signatures do, and
// leave it to this one to call it. The test kit and the sample are an
// application's code: they may.
func TestNothingElseCallsTheSDK(t *testing.T) {
	t.Parallel()
	packages, files, exports := listPackages(t)
	checked := 0
	for _, path := range slices.Sorted(maps.Keys(packages)) {
		if !mustNotCall(path) || !slices.Contains(packages[path].Deps, sdk) {
			continue
		}
		checked++
		for _, use := range usesOf(t, files, exports, packages[path]) {
			t.Error(use)
		}
	}
	if checked < 8 {
		t.Errorf("only %d packages were looked at", checked)
	}
}

// The check itself: what it must see, and what it must leave alone.
func TestUsesOfTheSDKAreFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code string
		want int
	}{
		"a type in a signature": {`func f(c *azcosmos.ContainerClient, o azcosmos.ClientOptions) { _ = o }`, 0},
		"a composite literal":   {`var p = azcosmos.QueryParameter{Name: "@p"}`, 0},
		"a constant":            {`var level = azcosmos.PriorityLevelLow`, 0},
		"a conversion":          {`var level = azcosmos.PriorityLevel("Low")`, 0},
		"a function":            {`var key = azcosmos.NewPartitionKey()`, 1},
		"a method":              {`func f(c *azcosmos.ContainerClient) string { return c.ID() }`, 1},
		"a method as a value":   {`func f(c *azcosmos.ContainerClient) func() string { return c.ID }`, 1},
		"a promoted method":     {`type mine struct{ *azcosmos.ContainerClient }; func f(m mine) string { return m.ID() }`, 1},
		"through an alias":      {`type container = azcosmos.ContainerClient; func f(c *container) string { return c.ID() }`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, files, exports := listPackages(t)
			dir := t.TempDir()
			code := "package p\nimport \"" + sdk + "\"\n" + c.code + "\n"
			if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(code), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := usesOf(t, files, exports, listed{Dir: dir, ImportPath: "p", GoFiles: []string{"p.go"}}); len(got) != c.want {
				t.Errorf("%d uses, want %d: %q", len(got), c.want, got)
			}
		})
	}
}

// mustNotCall reports whether a package belongs to the library.
func mustNotCall(path string) bool {
	rest, ours := strings.CutPrefix(path, module+"/")
	if !ours || rest == "internal/cosmos" {
		return false
	}
	top, _, _ := strings.Cut(rest, "/")
	return top != "emulatortest" && top != "sample" && top != "docs"
}

// listed is a package as the go command describes it.
type listed struct {
	Dir, ImportPath, Export string
	GoFiles, Deps           []string
}

// listPackages returns the module's packages and what they need, and what reads
// their exported types.
func listPackages(t *testing.T) (packages map[string]listed, files *token.FileSet, exports types.Importer) {
	t.Helper()
	packages, err := listOnce()
	if err != nil {
		t.Fatal(err)
	}
	files = token.NewFileSet()
	return packages, files, importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(packages[path].Export) })
}

var listOnce = sync.OnceValues(func() (map[string]listed, error) {
	var stderr bytes.Buffer
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=Dir,ImportPath,Export,GoFiles,Deps", module+"/...")
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, &stderr)
	}
	packages := map[string]listed{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		packages[p.ImportPath] = p
	}
})

// usesOf lists where a package's code, without its tests, mentions a function
// or a method of the SDK.
func usesOf(t *testing.T, files *token.FileSet, exports types.Importer, p listed) []string {
	t.Helper()
	var parsed []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, file)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: exports}
	if _, err := config.Check(p.ImportPath, files, parsed, info); err != nil {
		t.Fatal(err)
	}
	var found []string
	for at, object := range info.Uses {
		if f, isFunc := object.(*types.Func); isFunc && f.Pkg() != nil && f.Pkg().Path() == sdk {
			position := files.Position(at.Pos())
			found = append(found, fmt.Sprintf("%s/%s:%d uses %s: give it a function in internal/cosmos", p.ImportPath, filepath.Base(position.Filename), position.Line, f.FullName()))
		}
	}
	slices.Sort(found)
	return found
}
