package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	usesLine   = regexp.MustCompile(`(?m)^\s*(?:- )?uses: (\S+)`)
	byCommit   = regexp.MustCompile(`@[0-9a-f]{40}$`)
	imageLine  = regexp.MustCompile(`(?m)^\s*(?:FROM|image:)\s+(\S+)`)
	byDigest   = regexp.MustCompile(`@sha256:[0-9a-f]{64}$`)
	npmInstall = regexp.MustCompile(`(?m)^[^#\n]*\bnpm (?:ci|install|i|pack)\b.*$`)
	goRunTool  = regexp.MustCompile(`(?m)\b[\w./-]+\.\w+/[\w./-]+@(\S+)$`)
)

// What the checks and the images fetch is named by what it is, not by a name that may be moved: actions by commit, images
// by digest, tools by version; and no package runs a script when it is installed.
func TestWhatIsFetchedIsPinned(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); name == ".git" || name == "node_modules" || name == "testdata" {
				return filepath.SkipDir
			}
			return nil
		}
		workflow := strings.Contains(filepath.ToSlash(path), ".github/workflows/")
		image := strings.HasPrefix(d.Name(), "Dockerfile") || strings.HasPrefix(d.Name(), "compose.")
		script := d.Name() == "run" || filepath.Ext(path) == ".sh" || workflow
		if !workflow && !image && !script {
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text := string(raw)
		if workflow {
			checkouts := strings.Count(text, "uses: actions/checkout@")
			if kept := strings.Count(text, "persist-credentials: false"); kept != checkouts {
				t.Errorf("%s: %d of %d checkouts leave the token in the clone", path, checkouts-kept, checkouts)
			}
			for _, m := range usesLine.FindAllStringSubmatch(text, -1) {
				seen["action"]++
				if !byCommit.MatchString(m[1]) {
					t.Errorf("%s: %s is not named by its commit", path, m[1])
				}
			}
		}
		if workflow || image {
			for _, m := range imageLine.FindAllStringSubmatch(text, -1) {
				seen["image"]++
				if m[1] != "scratch" && !byDigest.MatchString(m[1]) {
					t.Errorf("%s: %s is not named by its digest", path, m[1])
				}
			}
		}
		if script {
			for _, line := range npmInstall.FindAllString(text, -1) {
				seen["npm"]++
				if !strings.Contains(line, "--ignore-scripts") || strings.Contains(line, "npm install") || strings.Contains(line, "npm i ") {
					t.Errorf("%s: %s", path, strings.TrimSpace(line))
				}
			}
			for _, m := range goRunTool.FindAllStringSubmatch(text, -1) {
				seen["tool"]++
				if m[1] == "latest" || m[1] == "master" {
					t.Errorf("%s: %s has no version", path, m[0])
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen["action"] < 5 || seen["image"] < 3 || seen["npm"] < 3 || seen["tool"] < 2 {
		t.Errorf("found only %v", seen)
	}
}
