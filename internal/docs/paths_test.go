// Package docs holds the tests of what the pages say.
package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const top = "../.."

var (
	// quotedPath is a file's name or path in a page, with or without its folder.
	quotedPath = regexp.MustCompile("`([A-Za-z0-9_.*/-]+\\.(?:go|md|yml|yaml|mjs))`")
	code       = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	link       = regexp.MustCompile(`\]\(([^)#\s]+)(#[^)]*)?\)`)
)

// tree lists the repository's files, with slashes.
func tree(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		rel, err := filepath.Rel(top, path)
		files = append(files, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func pages(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(top, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md"} {
		names = append(names, filepath.Join(top, name))
	}
	out := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(text)
	}
	return out
}

// Every file that a page names exists. A name without its folder may lie in
// any folder; a star stands for what it does in a shell.
func TestEveryPathNamedInThePagesExists(t *testing.T) {
	t.Parallel()
	files := tree(t)
	found := 0
	for page, text := range pages(t) {
		for _, m := range quotedPath.FindAllStringSubmatch(text, -1) {
			found++
			name := strings.TrimPrefix(m[1], "./")
			if strings.HasSuffix(name, "_test.go") && strings.Count(name, "/") == 0 && page == filepath.Join(top, "docs", "testing.md") {
				continue // a file of the reader's own
			}
			exists := slices.ContainsFunc(files, func(f string) bool {
				parts := strings.Split(f, "/")
				n := strings.Count(name, "/") + 1
				if len(parts) < n {
					return false
				}
				ok, err := filepath.Match(name, strings.Join(parts[len(parts)-n:], "/"))
				return ok && err == nil
			})
			if !exists {
				t.Errorf("%s names %s, which does not exist", filepath.Base(page), m[1])
			}
		}
	}
	if found < 50 {
		t.Errorf("only %d paths were found in the pages", found)
	}
}

// Links within the repository resolve, their headings too.
func TestEveryLinkBetweenPagesResolves(t *testing.T) {
	t.Parallel()
	for page, text := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(text, ""), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			target := filepath.Join(filepath.Dir(page), m[1])
			body, err := os.ReadFile(target)
			if info, statErr := os.Stat(target); statErr != nil {
				t.Errorf("%s: %s does not exist", filepath.Base(page), m[1])
				continue
			} else if info.IsDir() || err != nil || m[2] == "" {
				continue
			}
			if !slices.Contains(anchors(string(body)), strings.TrimPrefix(m[2], "#")) {
				t.Errorf("%s: %s has no heading %s", filepath.Base(page), m[1], m[2])
			}
		}
	}
}

// anchors are the headings of a page as GitHub links to them.
func anchors(page string) []string {
	var out []string
	for line := range strings.Lines(page) {
		heading, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		if !ok || !strings.HasPrefix(line, "#") {
			continue
		}
		var b strings.Builder
		for _, r := range strings.ToLower(strings.TrimSpace(heading)) {
			switch {
			case r == ' ':
				b.WriteByte('-')
			case r == '-' || r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
				b.WriteRune(r)
			}
		}
		out = append(out, b.String())
	}
	return out
}
