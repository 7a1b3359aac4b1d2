package faults_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/faults"
)

func TestFaultsPrintTheCodeThatMakesThem(t *testing.T) {
	t.Parallel()
	cases := []struct {
		fault faults.Fault
		code  string
	}{
		{faults.Cut(), "emulator.Cut()"},
		{faults.Cut().AfterEffect().On(faults.CreateItem, faults.PatchItem).Nth(3), "emulator.Cut().AfterEffect().On(emulator.CreateItem, emulator.PatchItem).Nth(3)"},
		{faults.Cut().Later(2).Client("deleter"), `emulator.Cut().Later(2).Client("deleter")`},
		{faults.Answer(408, 0).Later(0), "emulator.Answer(408, 0).Later(0)"},
		{faults.Answer(410, 1002).Database("db").Container("main").Item(`a"b`), `emulator.Answer(410, 1002).Database("db").Container("main").Item("a\"b")`},
		{faults.Throttle(1500 * time.Millisecond).Times(2), "emulator.Throttle(1500*time.Millisecond).Times(2)"},
		{faults.Delay(time.Minute).Keep(), "emulator.Delay(time.Minute).Keep()"},
		{faults.Delay(17), "emulator.Delay(17)"},
		{faults.Answer(503, 0).Delayed(2*time.Second).Probability(0.25, 7), "emulator.Answer(503, 0).Delayed(2*time.Second).Probability(0.25, 7)"},
		{faults.Kill().AfterEffect(), "emulator.Kill().AfterEffect()"},
		{faults.Suspend(time.Hour), "emulator.Suspend(time.Hour)"},
		{faults.Suspend(time.Hour).AfterEffect(), "emulator.Suspend(time.Hour).AfterEffect()"},
		{faults.Behind(2), "emulator.Behind(2)"},
		{faults.EmptyPage(), "emulator.EmptyPage()"},
		{faults.ShortPage(3), "emulator.ShortPage(3)"},
		{faults.OtherForm(), "emulator.OtherForm()"},
		{faults.Split(), "emulator.Split()"},
		{faults.Merge().On(faults.DeleteItemsByPartition), "emulator.Merge().On(emulator.DeleteItemsByPartition)"},
	}
	for _, c := range cases {
		if got := c.fault.String(); got != c.code {
			t.Errorf("got  %s\nwant %s", got, c.code)
		}
		if _, err := parser.ParseExpr(c.fault.String()); err != nil {
			t.Errorf("%s is no Go: %v", c.fault, err)
		}
	}
}

// Every operation has a constant of the name that is printed, here and in the package that users import.
func TestOperationsAreNamedAsTheirConstants(t *testing.T) {
	t.Parallel()
	values := map[string]string{}
	public := map[string]bool{}
	each := func(file string, see func(name string, value ast.Expr)) {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
				see(spec.Names[0].Name, spec.Values[0])
			}
			return true
		})
	}
	each("operation.go", func(name string, value ast.Expr) {
		if literal, ok := value.(*ast.BasicLit); ok {
			values[name], _ = strconv.Unquote(literal.Value)
		}
	})
	each("../../faults.go", func(name string, _ ast.Expr) { public[name] = true })
	if len(values) < 30 {
		t.Fatalf("only %d operations found", len(values))
	}
	for name, text := range values {
		if got := faults.Operation(text).Constant(); got != name {
			t.Errorf("%q prints as %s, its constant is %s", text, got, name)
		}
		if !public[name] && name != "Unknown" && name != "Script" {
			t.Errorf("package emulator has no %s", name)
		}
	}
}
