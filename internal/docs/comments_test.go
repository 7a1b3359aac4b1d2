package docs

import (
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// namedFile is a Go file that a comment names: in its own folder, with its path from the top, or as
// "page.go of repository", where the folder's name may be the last part of its path.
var namedFile = regexp.MustCompile(`([A-Za-z0-9_*]+(?:/[A-Za-z0-9_*]+)*\.go)\b(?:,? of (?:package )?([a-z/]+))?`)

// elsewhere are files of an application, and of the SDK.
var elsewhere = []string{"app.go", "emulator_cosmos_item_test.go", "cosmos_change_feed_composite_continuation_token.go"}

func TestEveryFileNamedInACommentExists(t *testing.T) {
	t.Parallel()
	files := tree(t)
	folders := map[string][]string{}
	for _, file := range files {
		if strings.HasSuffix(file, ".go") {
			folder := path.Dir(file)
			folders[folder] = append(folders[folder], path.Base(file))
		}
	}
	named := 0
	for _, file := range files {
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(top, file))
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, group := range parsed.Comments {
			for _, m := range namedFile.FindAllStringSubmatch(strings.ReplaceAll(group.Text(), "\n", " "), -1) {
				named++
				if !slices.Contains(elsewhere, m[1]) && !namesFile(folders, path.Dir(file), m[1], m[2]) {
					t.Errorf("%s: a comment names %q, which is not there", file, m[0])
				}
			}
		}
	}
	if named < 100 {
		t.Errorf("%d names of files found", named)
	}
}

// namesFile reports whether a comment in a folder names a file that exists.
func namesFile(folders map[string][]string, from, name, of string) bool {
	for folder, names := range folders {
		whole := folder
		switch {
		case strings.Contains(name, "/"):
			if whole != path.Dir(name) && !strings.HasSuffix(whole, "/"+path.Dir(name)) {
				continue
			}
		case of != "" && (whole == of || strings.HasSuffix(whole, "/"+of)):
		case whole != from:
			continue
		}
		for _, n := range names {
			if ok, _ := path.Match(path.Base(name), n); ok {
				return true
			}
		}
	}
	return false
}
