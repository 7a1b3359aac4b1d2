package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docLink is a name in brackets, as doc comments link to it: [Name], [*Name], [Type.Method], [package.Name].
var docLink = regexp.MustCompile(`(?:^|[\s(])\[\*?((?:[a-z]\w*\.)?[A-Z]\w*(?:\.[A-Z]\w*)?)\]`)

// Names that the comments of public packages link to exist.
func TestEveryNameInDocCommentsExists(t *testing.T) {
	t.Parallel()
	names := map[string]map[string]bool{}
	for _, dir := range withExamples {
		names[filepath.Base(dir)] = exported(t, filepath.Join(top, filepath.FromSlash(dir)))
	}
	found := 0
	for _, dir := range withExamples {
		files, err := filepath.Glob(filepath.Join(top, filepath.FromSlash(dir), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			fset := token.NewFileSet()
			parsed, err := parser.ParseFile(fset, file, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, comment := range parsed.Comments {
				for _, name := range linkedIn(comment) {
					found++
					pkg, known := names[filepath.Base(dir)], true
					if first, rest, ok := strings.Cut(name, "."); ok && strings.ToLower(first[:1]) == first[:1] {
						pkg, known = names[first]
						name = rest
					}
					if known && !pkg[name] {
						t.Errorf("%s: [%s] does not exist", fset.Position(comment.Pos()), name)
					}
				}
			}
		}
	}
	if found < 100 {
		t.Errorf("only %d names were found in the comments", found)
	}
}

// linkedIn are the names that a comment links to, outside of its code.
func linkedIn(comment *ast.CommentGroup) []string {
	var names []string
	for line := range strings.Lines(comment.Text()) {
		if strings.HasPrefix(line, "\t") {
			continue
		}
		for _, m := range docLink.FindAllStringSubmatch(line, -1) {
			names = append(names, m[1])
		}
	}
	return names
}
