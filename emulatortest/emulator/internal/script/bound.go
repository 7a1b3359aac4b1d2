package script

import (
	"crypto/rand"
	"net/http"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

// Strings are put together by instructions, which no built-in's guard sees: a loop of "s += s" asks for gigabytes within
// milliseconds, and one template of a thousand parts in one step. So each of them goes through a function of the host.
// The script's wrapper takes these functions as parameters, of names that a script can neither write nor guess.
type hostNames struct{ bounded, appended, joined, spread string }

func newHostNames() hostNames {
	secret := "\x00" + rand.Text()
	return hostNames{bounded: secret + "+", appended: secret + "=", joined: secret + "`", spread: secret + "."}
}

// declare makes the names parameters of the wrapper.
func (n hostNames) declare(tree *ast.Program) bool {
	if len(tree.Body) != 1 {
		return false
	}
	statement, ok := tree.Body[0].(*ast.ExpressionStatement)
	if !ok {
		return false
	}
	wrapper, ok := statement.Expression.(*ast.FunctionLiteral)
	if !ok {
		return false
	}
	for _, name := range []string{n.bounded, n.appended, n.joined, n.spread} {
		wrapper.ParameterList.List = append(wrapper.ParameterList.List, &ast.Binding{Target: n.identifier(wrapper, name)})
	}
	return true
}

func (n hostNames) identifier(at ast.Node, name string) *ast.Identifier {
	return &ast.Identifier{Name: unistring.String(name), Idx: at.Idx0()}
}

func (n hostNames) call(at ast.Node, name string, arguments ...ast.Expression) ast.Expression {
	return &ast.CallExpression{
		Callee: n.identifier(at, name), ArgumentList: arguments, LeftParenthesis: at.Idx0(), RightParenthesis: at.Idx1(),
	}
}

// rewrite returns what stands in an expression's place. Its parts have been rewritten before.
func (n hostNames) rewrite(e ast.Expression) ast.Expression {
	switch e := e.(type) {
	case *ast.BinaryExpression:
		if e.Operator == token.PLUS && !isLiteral(e.Left) && !isLiteral(e.Right) {
			return n.call(e, n.bounded, e)
		}
	case *ast.AssignExpression:
		if e.Operator == token.PLUS && !isLiteral(e.Right) {
			return n.call(e, n.appended, e)
		}
	case *ast.TemplateLiteral:
		if e.Tag == nil && len(e.Expressions) > 0 {
			return n.template(e)
		}
	case *ast.SpreadElement:
		e.Expression = n.call(e.Expression, n.spread, e.Expression)
	}
	return e
}

// isLiteral tells what is at most as long as the script: appending it is as good as bounded.
func isLiteral(e ast.Expression) bool {
	switch e.(type) {
	case *ast.StringLiteral, *ast.NumberLiteral, *ast.BooleanLiteral, *ast.NullLiteral:
		return true
	}
	return false
}

// template joins the parts from the left, so that each expression is made a string before the next one is looked at.
func (n hostNames) template(e *ast.TemplateLiteral) ast.Expression {
	text := func(part *ast.TemplateElement) ast.Expression {
		return &ast.StringLiteral{Idx: part.Idx, Literal: part.Literal, Value: part.Parsed}
	}
	joined := text(e.Elements[0])
	for i, expression := range e.Expressions {
		joined = n.call(expression, n.joined, joined, expression)
		if next := e.Elements[i+1]; next.Parsed != "" {
			joined = n.call(next, n.joined, joined, text(next))
		}
	}
	return joined
}

// hostFunctions are the values of the names, in their order.
func (s *session) hostFunctions() []goja.Value {
	bounded := func(c goja.FunctionCall) goja.Value {
		v := c.Argument(0)
		if text, ok := v.(goja.String); ok {
			s.space(float64(text.Length()))
		}
		return v
	}
	appended := func(c goja.FunctionCall) goja.Value { // the string has its place already, so an exception would leave it there
		v := c.Argument(0)
		if text, ok := v.(goja.String); ok && text.Length() > maxText {
			s.stop(failure(http.StatusBadRequest, "The script execution was stopped: it made a string of more than %d characters.", maxText))
			s.check()
		}
		return v
	}
	joined := func(c goja.FunctionCall) goja.Value {
		left, right := s.toString(c.Argument(0)), s.toString(c.Argument(1))
		s.space(float64(left.Length()) + float64(right.Length()))
		return left.Concat(right)
	}
	spread := func(c goja.FunctionCall) goja.Value {
		s.splittable(c.Argument(0))
		return c.Argument(0)
	}
	return []goja.Value{s.rt.ToValue(bounded), s.rt.ToValue(appended), s.rt.ToValue(joined), s.rt.ToValue(spread)}
}

// toString is a value as a string.
func (s *session) toString(v goja.Value) goja.String {
	switch v := v.ToString().(type) {
	case goja.String:
		return v
	case *goja.Symbol:
		s.throw("TypeError", "Cannot convert a Symbol value to a string")
		return nil
	default:
		return s.rt.ToValue(v.String()).(goja.String) //nolint:forcetypeassert // what the runtime makes of text
	}
}
