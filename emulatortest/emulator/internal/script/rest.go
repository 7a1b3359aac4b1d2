package script

import (
	"errors"
	"strconv"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// The rest of an object in a pattern ({ a, ...rest }) lists the properties of a value in one instruction. A long string has
// millions of them, so the host looks at the value first: in declarations and assignments where it stands, in the
// parameters of a function at the beginning of its body. Elsewhere such patterns are refused.

var (
	errRest     = errors.New("SyntaxError: the rest of an object is supported in declarations, assignments and parameters only")
	errDefaults = errors.New("SyntaxError: a function whose parameter takes the rest of an object can't have default values")
)

// hasRest tells whether a pattern takes the rest of an object, and that its value is looked at.
func (w *walker) hasRest(target any) bool {
	pattern, ok := target.(*ast.ObjectPattern)
	if !ok || pattern.Rest == nil {
		return false
	}
	w.rest[pattern] = true
	return true
}

func (w *walker) looked(value ast.Expression) ast.Expression {
	return w.names.call(value, w.names.spread, value)
}

func (w *walker) declared(list []*ast.Binding) {
	for _, b := range list {
		if b.Initializer != nil && w.hasRest(b.Target) {
			b.Initializer = w.looked(b.Initializer)
		}
	}
}

func (w *walker) assigned(e *ast.AssignExpression) {
	if e.Operator == token.ASSIGN && w.hasRest(e.Left) {
		e.Right = w.looked(e.Right)
	}
}

// parameters moves patterns from a function's parameters into declarations, which it returns.
func (w *walker) parameters(list []*ast.Binding) []*ast.Binding {
	var moved []*ast.Binding
	defaults := false
	for i, b := range list {
		defaults = defaults || b.Initializer != nil
		if !w.hasRest(b.Target) {
			continue
		}
		name := w.names.spread + strconv.Itoa(i)
		moved = append(moved, &ast.Binding{Target: b.Target, Initializer: w.looked(w.names.identifier(b.Target, name))})
		b.Target = w.names.identifier(b.Target, name)
	}
	if defaults && moved != nil {
		w.err = errDefaults
	}
	return moved
}

func (w *walker) function(f *ast.FunctionLiteral) {
	moved := w.parameters(f.ParameterList.List)
	if moved == nil {
		return
	}
	f.Body.List = append([]ast.Statement{&ast.VariableStatement{Var: f.Body.Idx0(), List: moved}}, f.Body.List...)
	f.DeclarationList = append(f.DeclarationList, &ast.VariableDeclaration{Var: f.Body.Idx0(), List: moved})
}

func (w *walker) arrow(f *ast.ArrowFunctionLiteral) {
	moved := w.parameters(f.ParameterList.List)
	if moved == nil {
		return
	}
	body, ok := f.Body.(*ast.BlockStatement)
	if expression, short := f.Body.(*ast.ExpressionBody); short {
		at := expression.Expression
		body, ok = &ast.BlockStatement{
			LeftBrace: at.Idx0(), RightBrace: at.Idx1(), List: []ast.Statement{&ast.ReturnStatement{Return: at.Idx0(), Argument: at}},
		}, true
	}
	if !ok {
		w.err = errRest
		return
	}
	body.List = append([]ast.Statement{&ast.VariableStatement{Var: body.Idx0(), List: moved}}, body.List...)
	f.Body = body
	f.DeclarationList = append(f.DeclarationList, &ast.VariableDeclaration{Var: body.Idx0(), List: moved})
}
