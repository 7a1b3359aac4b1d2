package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	// dotted is a member of a query's alias behind a dot, where a word of the language is a syntax error.
	dotted = regexp.MustCompile(`(?:^|[^\w"'.@])[a-z]\.(?:[A-Za-z_]|$)`)
	sqlish = regexp.MustCompile(`\b(?:SELECT|FROM|WHERE|JOIN|IS_DEFINED|IS_STRING|ARRAY_CONTAINS|STARTSWITH)\b|(?:^|\s)(?:AND|OR)\s|[=<>]|"\w+": `)
)

// Every path in the queries of the library is written in brackets. What it says of conditions to their authors may be short.
func TestPathsInQueriesStandInBrackets(t *testing.T) {
	t.Parallel()
	queries := 0
	for _, dir := range []string{"internal", "repository", "parented", "registry", "denorm", "tenantitem"} {
		err := filepath.WalkDir(filepath.Join(top, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, raw, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if pair, ok := n.(*ast.KeyValueExpr); ok {
					if name, ok := pair.Key.(*ast.Ident); ok && (name.Name == "Hint" || name.Name == "hint" || name.Name == "Reason") {
						return false
					}
				}
				literal, ok := n.(*ast.BasicLit)
				if !ok || literal.Kind != token.STRING {
					return true
				}
				text, err := strconv.Unquote(literal.Value)
				if err != nil || !sqlish.MatchString(text) {
					return true
				}
				if strings.Contains(text, "SELECT") {
					queries++
				}
				if dotted.MatchString(text) {
					t.Errorf("%s: %s", files.Position(literal.Pos()), literal.Value)
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if queries < 10 {
		t.Errorf("only %d queries were found", queries)
	}
}
