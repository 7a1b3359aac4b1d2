package code

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// Every step of docs/tutorial.md is taken in an empty module: its files are added to those of the steps
// before, or take their place, and the module's tests pass. What the last step leaves is the shop of sample/shop.
func TestTutorial(t *testing.T) {
	t.Parallel()
	top, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	module := t.TempDir()
	emptyModule(t, top, module)
	steps, err := filepath.Glob("testdata/tutorial/step*")
	if err != nil {
		t.Fatal(err)
	}
	if len(steps) != 5 {
		t.Fatal(steps)
	}
	for _, step := range steps {
		if err := filepath.WalkDir(step, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			rel, err := filepath.Rel(step, path)
			if err != nil {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			target := filepath.Join(module, rel)
			if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
				return err
			}
			return os.WriteFile(target, data, 0o600)
		}); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "go", "test", "./...")
		cmd.Dir = module
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", step, err, out)
		}
	}
	for _, name := range []string{"api.go", "main.go", "model.go"} {
		got, err := os.ReadFile(filepath.Join(module, name))
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(top, "sample", "shop", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not that of sample/shop", name)
		}
	}
}

// emptyModule makes a module that uses this repository, with the versions that it uses, so that nothing is looked up.
func emptyModule(t *testing.T, top, module string) {
	t.Helper()
	mod, err := os.ReadFile(filepath.Join(top, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`(?m)^module .*$`).ReplaceAllString(string(mod), "module example.com/shop\n\nrequire github.com/cosmosgrove/grove v0.0.0\n\nreplace github.com/cosmosgrove/grove => "+top)
	sum, err := os.ReadFile(filepath.Join(top, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{"go.mod": text, "go.sum": string(sum)} {
		if err := os.WriteFile(filepath.Join(module, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
