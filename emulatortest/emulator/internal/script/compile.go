package script

import (
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
)

// The script is put behind "var fn =", as in the service: one function expression, which other functions may follow on
// lines of their own.
const (
	prologue = "(function __docDbMain() { var fn = "
	epilogue = "\n; return fn; })"
)

// Check reports whether a script can be compiled. The error is an [*Error].
func Check(id, body string) error {
	_, err := compile(id, body)
	return err
}

// compile parses a script and refuses what could escape the limits of a run.
func compile(id, body string) (*goja.Program, error) {
	if len(body) > maxSource {
		return nil, compileError(fmt.Errorf("SyntaxError: the script is longer than %d bytes", maxSource))
	}
	if nesting(body) > maxDepth {
		return nil, compileError(fmt.Errorf("SyntaxError: the script nests brackets deeper than %d levels", maxDepth))
	}
	tree, err := goja.Parse(id+".js", prologue+body+epilogue, parser.WithDisableSourceMaps)
	if err != nil {
		return nil, compileError(fmt.Errorf("SyntaxError: %w", err))
	}
	names := newHostNames()
	if err := prepareTree(tree, names); err != nil {
		return nil, compileError(err)
	}
	if !names.declare(tree) {
		return nil, compileError(errLeaves)
	}
	program, err := goja.CompileAST(tree, false)
	if err != nil {
		return nil, compileError(err)
	}
	return program, nil
}

// nesting is the deepest nesting of brackets, those in strings included. The parser calls itself for each level, and a
// process does not survive the end of its stack.
func nesting(text string) int {
	deepest, depth, prefixes := 0, 0, 0
	for _, c := range []byte(text) {
		switch c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth = max(depth-1, 0)
		case '!', '~', '+', '-', '?', '=':
			prefixes++
			deepest = max(deepest, prefixes/maxPrefixes)
		default:
		}
		deepest = max(deepest, depth)
	}
	return deepest
}

// maxPrefixes is how many operators weigh as much as one level of brackets: they nest too, but cost the parser less stack.
const maxPrefixes = 200

// errLeaves is for a text that closes the function around it.
var errLeaves = errors.New("SyntaxError: the script leaves the function that it is put into")

// prepareTree walks a parsed script. BigInt literals and regular expressions that need backtracking are refused, since one
// instruction of either can run for ever; what puts strings together or takes them apart is given to the host.
func prepareTree(tree *ast.Program, names hostNames) error {
	w := walker{seen: map[uintptr]bool{}, rest: map[*ast.ObjectPattern]bool{}, names: names}
	w.walk(reflect.ValueOf(tree.Body))
	return w.err
}

type walker struct {
	seen  map[uintptr]bool
	rest  map[*ast.ObjectPattern]bool // patterns whose value the host looks at
	names hostNames
	err   error
}

func (w *walker) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		w.walk(v.Elem())
		if e, ok := v.Interface().(ast.Expression); ok && v.CanSet() {
			v.Set(reflect.ValueOf(w.names.rewrite(e)))
		}
	case reflect.Slice:
		for i := range v.Len() {
			w.walk(v.Index(i))
		}
	case reflect.Pointer:
		if v.IsNil() || w.seen[v.Pointer()] {
			return
		}
		w.seen[v.Pointer()] = true
		w.check(v.Interface())
		if v.Elem().Type().PkgPath() == astPath {
			w.walk(v.Elem())
		}
	case reflect.Struct:
		if v.Type().PkgPath() != astPath {
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				w.walk(v.Field(i))
			}
		}
	default:
	}
}

const astPath = "github.com/dop251/goja/ast"

func (w *walker) check(node any) {
	if w.err != nil {
		return
	}
	switch n := node.(type) {
	case *ast.NumberLiteral:
		if _, big := n.Value.(*big.Int); big {
			w.err = errors.New("SyntaxError: BigInt is not supported")
		}
	case *ast.RegExpLiteral:
		if err := checkPattern(n.Pattern, n.Flags); err != nil {
			w.err = fmt.Errorf("SyntaxError: %w", err)
		}
	case *ast.FunctionLiteral:
		w.function(n)
	case *ast.ArrowFunctionLiteral:
		w.arrow(n)
	case *ast.VariableStatement:
		w.declared(n.List)
	case *ast.LexicalDeclaration:
		w.declared(n.List)
	case *ast.AssignExpression:
		w.assigned(n)
	case *ast.ObjectPattern:
		if n.Rest != nil && !w.rest[n] {
			w.err = errRest
		}
	case *ast.TemplateLiteral:
		if len(n.Expressions) > maxParts {
			w.err = fmt.Errorf("SyntaxError: a template has more than %d expressions", maxParts)
		}
	}
}

// maxParts is how many expressions a template may have: each becomes a call inside the next one's.
const maxParts = 1000

// checkPattern refuses a regular expression that can't be matched in a time that its length bounds.
func checkPattern(pattern, flags string) error {
	_, err := parser.TransformRegExp(pattern, strings.Contains(flags, "s"), strings.Contains(flags, "u"))
	if err != nil {
		return fmt.Errorf("invalid regular expression (look-around and back-references are not supported): %w", err)
	}
	return nil
}
