package script_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/script"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// call runs one function with arguments in JSON and gives its result as JSON.
func call(t *testing.T, limits script.Limits, body string, arguments ...string) (string, error) {
	t.Helper()
	args := make([]value.Value, len(arguments))
	for i, a := range arguments {
		v, err := value.Parse([]byte(a))
		if err != nil {
			t.Fatal(err)
		}
		args[i] = v
	}
	functions := script.NewFunctions(t.Context(), func(string) (string, bool) { return body, true }, script.World{Limits: limits})
	result, err := functions.Call("f", args)
	if result.IsUndefined() {
		return "", err
	}
	return result.String(), err
}

func TestFunctionsGiveJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, body, argument, want string }{
		{"a tax", "function tax(income) { if (income < 1000) return income * 0.1; return income * 0.4; }", "500", "50"},
		{"anonymous", "function (x) { return x; }", `{"a":[1,null,"é"]}`, `{"a":[1,null,"é"]}`},
		{"an arrow", "x => x + 1", "1", "2"},
		{"comment first", "// what it is\nfunction f(x) { return typeof x; }", `"a"`, `"string"`},
		{"comment last", "function f(x) { return 1; } // done", "null", "1"},
		{"helpers on lines of their own", "function f(x) { return g(x); }\nfunction g(x) { return x * 2; }", "4", "8"},
		{"undefined", "function f() {}", "1", ""},
		{"not a number", "function f() { return 0 / 0; }", "1", "null"},
		{"functions have no JSON", "function f() { return { a: function () {}, b: undefined, c: [undefined] }; }", "1", `{"c":[null]}`},
		{"toJSON", "function f() { return { d: new Date(0) }; }", "1", `{"d":"1970-01-01T00:00:00.000Z"}`},
		{"regular expression", `function f(s) { return s.match(/(\w+)@(\w+)/)[2]; }`, `"me@home"`, `"home"`},
		{"global replacement", `function f(s) { return s.replace(/o/g, "0") + s.split("o").length + "xox".replaceAll("x", "-"); }`, `"foo"`, `"f003-o-"`},
		{"spread, sets and maps", "function f(a) { return [...new Set([...a, ...a])].map(x => new Map([[x, 1]]).size); }", "[1,2]", "[1,1]"},
		{"destructuring", "function f({ a, ...rest }) { return [a, rest]; }", `{"a":1,"b":2}`, `[1,{"b":2}]`},
		{"stringify", `function f(x) { return JSON.stringify(x) + JSON.stringify([1, { b: 2 }], null, 1) + JSON.stringify({ a: 1, b: 2 }, ["b"]); }`,
			`{"a":"\n\u0001"}`, `"{\"a\":\"\\n\\u0001\"}[\n 1,\n {\n  \"b\": 2\n }\n]{\"b\":2}"`},
		{"parse with a reviver", `function f() { return JSON.parse("[1,[2]]", (k, v) => typeof v === "number" ? v + 1 : v); }`, "1", "[2,[3]]"},
		{"numbered errors", `function f() { try { throw new Error(404, "gone"); } catch (e) { return [e.number, e.message, e instanceof Error, String(new TypeError("t"))]; } }`,
			"1", `[404,"gone",true,"TypeError: t"]`},
		{"classes", `function f() { class A extends Array { two() { return this.length; } } class E extends Error {} return [A.from([1, 2]).two(), new E("m").message]; }`, "1", `[2,"m"]`},
		{"sorting and joining", `function f(a) { return a.sort((x, y) => y - x).concat([[0]]).flat().join("-"); }`, "[1,3,2]", `"3-2-1-0"`},
		{"arguments as an array", `function f() { return Array.prototype.slice.call(arguments, 0).length; }`, "1", "1"},
		{"strings as arrays", `function f(s) { return Array.prototype.map.call(s, c => c + c).join(""); }`, `"ab"`, `"aabb"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := call(t, script.Limits{}, c.body, c.argument)
			if err != nil || got != c.want {
				t.Errorf("got %s, %v; want %s", got, err, c.want)
			}
		})
	}
}

func TestFunctionsFailByName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, body, says string }{
		{"thrown error", `function f() { throw new Error("boom"); }`, "Encountered exception while executing Javascript. Exception = Error: boom"},
		{"thrown text", `function f() { throw "no input"; }`, "Exception = no input"},
		{"where", "function f() {\n throw new Error('here');\n}", "f.js:2"},
		{"syntax", "function f( {", "Encountered exception while compiling Javascript. Exception = SyntaxError"},
		{"no function", "42", "not a function"},
		{"two functions on a line", "function f() {} function g() {}", "SyntaxError"},
		{"way out of the wrapper", "1; }); (function () { return 1", "SyntaxError"},
		{"eval", `function f() { return eval("1"); }`, "eval is not defined"},
		{"code of text", `function f() { return f.constructor("return 1")(); }`, "made of text"},
		{"code of text by name", `function f() { return new Function("return 1")(); }`, "not a constructor"},
		{"async code of text", `function f() { return (async () => 1).constructor("return 1")(); }`, "made of text"},
		{"integers of any size", "function f() { return 10n; }", "BigInt"},
		{"look-behind", `function f(s) { return /(?<=a)b/.test("ab"); }`, "look-around"},
		{"look-behind made while it runs", `function f(s) { return new RegExp("(?<=a)b").test("ab"); }`, "look-around"},
		{"no server-side API", "function f() { return getContext(); }", "getContext is not defined"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := call(t, script.Limits{}, c.body)
			var refusal *script.Error
			if !errors.As(err, &refusal) || refusal.Status != 400 || !strings.Contains(refusal.Message, c.says) {
				t.Errorf("got %s, %v; want 400 with %q", got, err, c.says)
			}
		})
	}
}

func TestUnknownFunctionIsNamed(t *testing.T) {
	t.Parallel()
	functions := script.NewFunctions(t.Context(), func(string) (string, bool) { return "", false }, script.World{})
	if _, err := functions.Call("tax", nil); err == nil || !strings.Contains(err.Error(), "udf.tax does not exist") {
		t.Error(err)
	}
}

// TestHostileFunctionsEnd holds each attempt to take the process to a bound of time; memory that runs away would end the test.
//
//nolint:paralleltest // a run is stopped for what the whole process's memory grows by, other tests' runs too
func TestHostileFunctionsEnd(t *testing.T) {
	limits := script.Limits{Time: 100 * time.Millisecond, Memory: 64 << 20}
	for name, body := range map[string]string{ //nolint:paralleltest // memory is measured for the whole process
		"endless loop":                        "while (true) {}",
		"endless loop that catches":           "while (true) { try { while (true) {} } catch (e) {} finally { while (true) {} } }",
		"endless promises":                    "function next() { Promise.resolve().then(next); } next();",
		"endless generator":                   "function* g() { while (true) yield 1; } return [...g()];",
		"deep recursion":                      "function g() { return g() + 1; } return g();",
		"deep recursion in a built-in":        "function g() { return [1].map(g); } return g();",
		"deep recursion of getters":           "var o = { get a() { return this.a; } }; return o.a;",
		"growing array":                       "var a = []; while (true) a.push(new Array(1000).fill('x'));",
		"growing string":                      "var s = 'x'; while (true) s += s;",
		"growing object":                      "var o = {}; for (var i = 0; ; i++) o['k' + i] = i;",
		"growing strings of strings":          "var s = 'x'.repeat(1e6); var a = []; while (true) a.push(s + a.length);",
		"repeat":                              "return 'x'.repeat(1e9).length;",
		"pad":                                 "return 'x'.padEnd(1e9).length;",
		"long array":                          "return new Array(4e9).fill(0).length;",
		"long array joined":                   "return new Array(4e9).join('x');",
		"long array, no elements":             "return Array.prototype.forEach.call({ length: 2 ** 53 - 1 }, function () {});",
		"length that changes":                 "var n = 0; return Array.prototype.indexOf.call({ get length() { return n++ ? 2 ** 53 - 1 : 1; } }, 1);",
		"length of a prototype":               "var n = 0, p = { get length() { return n++ ? 2 ** 53 - 1 : 1; } }; return Array.prototype.indexOf.call(Object.create(p), 1);",
		"spread of a long array":              "return Math.max(...new Array(4e9));",
		"array that grows under its iterator": "var a = [1], i = a[Symbol.iterator](); a.length = 4e9; return [...{ [Symbol.iterator]: () => i }].length;",
		"apply":                               "return Math.max.apply(null, { length: 2 ** 40 });",
		"reflect":                             "return Reflect.apply(Math.max, null, { length: 2 ** 40 });",
		"construct":                           "return Reflect.construct(Array, { length: 2 ** 40 });",
		"from":                                "return Array.from({ length: 2 ** 40 }).length;",
		"shared text joined":                  "var s = 'x'.repeat(1e6), a = new Array(1e6).fill(s); return a.join('');",
		"shared text as JSON":                 "var s = 'x'.repeat(1e6), a = new Array(1e6).fill(s); return JSON.stringify(a);",
		"shared text returned":                "var s = 'x'.repeat(1e6), a = new Array(1e6).fill(s); return a;",
		"shared objects as JSON":              "var o = {}; for (var i = 0; i < 100; i++) o = { a: o, b: o }; return JSON.stringify(o);",
		"shared arrays flattened":             "var a = [1]; for (var i = 0; i < 60; i++) a = [a, a]; return a.flat(Infinity);",
		"shared arrays as text":               "var a = [1]; for (var i = 0; i < 60; i++) a = [a, a]; return String(a);",
		"deep array as JSON":                  "var a = []; for (var i = 0; i < 1e6; i++) a = [a]; return JSON.stringify(a);",
		"deep array as text":                  "var a = []; for (var i = 0; i < 1e6; i++) a = [a]; return String(a);",
		"deep JSON":                           "return JSON.parse('['.repeat(1e6) + ']'.repeat(1e6));",
		"replacement that multiplies":         "var s = 'x'.repeat(1e5); return s.replace(/x/g, s).length;",
		"replacement by function":             "var s = 'x'.repeat(1e5); return s.replace(/x/g, () => s).length;",
		"split":                               "var s = 'x'.repeat(1e7); return s.split('').length;",
		"characters of a string":              "var s = 'x'.repeat(1e7); return [...s].length;",
		"catastrophic expression":             "return /^(a+)+$/.test('a'.repeat(1e5) + '!');",
		"large expression":                    "return new RegExp('(a{100}){10}'.repeat(50)).test('a'.repeat(1e5));",
		"expression that rescans":             "return 'a'.repeat(2e5).replace(/a(.*b)?/g, 'c').length;",
		"search in a long text":               "var s = 'a'.repeat(1e7); return s.indexOf('a'.repeat(5e6) + 'b');",
		"chain of bound functions":            "var f = () => 1; for (var i = 0; i < 1e6; i++) f = f.bind(null); return f();",
		"constructor of the array":            "var a = [1]; a.constructor = { [Symbol.species]: function () { while (true) {} } }; return a.map(x => x);",
		"toString of an argument":             "return 'a'.concat({ toString() { while (true) {} } });",
		"encoding":                            "return encodeURIComponent('é'.repeat(1e7)).length;",
		"sorting with a lying comparison":     "return new Array(1e6).fill(0).map((_, i) => i).sort(() => Math.random() - 0.5).length;",
		"sorting long texts":                  "var m = 'a'.repeat(1e6), a = new Array(1e5).fill(0).map((_, i) => i % 2 ? m + 'b' : m + 'a'); return a.sort().length;",
		"many binds of the interruption":      "try { while (true) {} } catch (e) { return 1; }",
	} {
		t.Run(name, func(t *testing.T) {
			begin := time.Now()
			got, err := call(t, limits, "function f() { "+body+" }")
			if took := time.Since(begin); took > time.Minute {
				t.Errorf("took %s", took)
			}
			var refusal *script.Error
			if err != nil && !errors.As(err, &refusal) {
				t.Errorf("got %q, %v", got, err)
			}
			if len(got) > 1000 {
				got = got[:1000]
			}
			t.Logf("%s: %q %.150v", time.Since(begin).Round(time.Millisecond), got, err)
		})
	}
}
