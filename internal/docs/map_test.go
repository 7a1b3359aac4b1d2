package docs

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	mapRow   = regexp.MustCompile("(?m)^\\| `([a-z/]+)` \\| (.*) \\|$")
	goFile   = regexp.MustCompile("`([A-Za-z0-9_*]+\\.go)`")
	mapTitle = "## Where things are"
)

// The map of the folders has a row for each package, but for those below a
// package with a row of its own, and names only files of that folder.
func TestTheMapOfTheFoldersIsTrue(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(top, "docs", "internals.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), mapTitle)
	if !found {
		t.Fatalf("docs/internals.md has no %q", mapTitle)
	}
	rows := map[string]bool{}
	for _, m := range mapRow.FindAllStringSubmatch(table, -1) {
		folder, text := m[1], m[2]
		rows[folder] = true
		for _, file := range goFile.FindAllStringSubmatch(text, -1) {
			if there, err := filepath.Glob(filepath.Join(top, folder, file[1])); err != nil || len(there) == 0 {
				t.Errorf("the row of %s names %s, which is not there (%v)", folder, file[1], err)
			}
		}
	}
	// Below these, the row speaks of all packages.
	whole := []string{"emulatortest", "sample", "docs", "tenantitem", "internal/docs"}
	for _, file := range tree(t) {
		folder := path.Dir(file)
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") || rows[folder] || folder == "." {
			continue
		}
		if !slices.ContainsFunc(whole, func(w string) bool { return folder == w || strings.HasPrefix(folder, w+"/") }) {
			t.Errorf("the map has no row for %s", folder)
			rows[folder] = true
		}
	}
}
