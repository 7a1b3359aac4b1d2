package script_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/script"
)

// TestTextsArePutTogetherAsTheLanguageSays runs what the host does in the place of instructions.
func TestTextsArePutTogetherAsTheLanguageSays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, body, argument, want string }{
		{"sum of numbers", "function f(x) { return x + x; }", "2", "4"},
		{"number and text", "function f(x) { var y = 'b'; return x + y + x; }", "2", `"2b2"`},
		{"undefined", "function f(x) { return x + undefined; }", `"a"`, `"aundefined"`},
		{"appended", "function f(x) { var s = 'a', o = { p: 'b' }, i = 0, a = [1, 2]; s += x; o.p += s; a[i++] += x; return [s, o.p, a, i]; }", `"c"`, `["ac","bac",["1c",2],1]`},
		{"chained", "function f(x) { var a = x, b = x; a += b += x; return [a, b]; }", `"c"`, `["ccc","cc"]`},
		{"objects", "function f(x) { var o = { valueOf: function () { return 40; }, toString: function () { return 'text'; } }; return [o + x, `${o}${x}`]; }", "2", `[42,"text2"]`},
		{"template", "function f(x) { return `<${x}-${x + x}>${''}`; }", "2", `"<2-4>"`},
		{"template of values", "function f(x) { return `${null} ${undefined} ${[1, [2]]} ${{}} ${1.5}`; }", "2", `"null undefined 1,2 [object Object] 1.5"`},
		{"template in order", "function f() { var log = []; var o = n => ({ toString() { log.push('text' + n); return n; } }); var at = n => { log.push('at' + n); return o(n); }; " +
			"return `${at('1')}${at('2')}` + log.join(); }", "1", `"12at1,text1,at2,text2"`},
		{"template with a tag", "function f(x) { return ((parts, v) => parts.raw.join('|') + v)`a${x}\\n`; }", "2", `"a|\\n2"`},
		{"halves of a character", "function f(x) { return `${x[0]}${x[1]}`; }", `"😀"`, `"😀"`},
		{"symbols", "function f() { try { return `${Symbol('s')}`; } catch (e) { return e instanceof TypeError; } }", "1", "true"},
		{"name of a function", "function f() { var g = function () {}; return g.name + f.name; }", "1", `"gf"`},
		{"source of a function", "function f() { return String(x => x + x); }", "1", `"x => x + x"`},
		{"join", "function f() { return [[1, [2, null, undefined]], {}, true].join(); }", "1", `"1,2,,,[object Object],true"`},
		{"join of an array in itself", "function f() { var a = [1]; a.push(a); return [a.join('-'), String(a)]; }", "1", `["1-","1,"]`},
		{"join of what is like an array", "function f() { return Array.prototype.join.call({ length: 2, 0: 'a', 1: 'b' }, ''); }", "1", `"ab"`},
		{"toLocaleString", "function f() { return [1, 'a', null].toLocaleString(); }", "1", `"1,a,"`},
		{"concat", "function f() { return 'a'.concat(1, [2, 3], { toString() { return 'o'; } }); }", "1", `"a12,3o"`},
		{"replace", "function f(s) { return [s.replace('b', '[$&$`$\\']'), s.replace(/./g, (c, at) => c + at), s.replace('b'), s.replaceAll('b', undefined)]; }",
			`"abc"`, `["a[bac]c","a0b1c2","aundefinedc","aundefinedc"]`},
		{"replace by symbols", "function f(s) { return [/b/[Symbol.replace](s, '[$&]'), /./g[Symbol.replace](s, c => c + c), /b/[Symbol.search](s), /b/[Symbol.split](s), " +
			"/./g[Symbol.match](s), String(/a/g), String(new TypeError('m')), s.repeat(3000).replace('b', \"$'\").length, s.repeat(1000000).toUpperCase().length]; }",
			`"abc"`, `["a[b]c","aabbcc",1,["a","c"],["a","b","c"],"/a/g","TypeError: m",17997,3000000]`},
		{"rest", "function f(x) { var { a, ...r } = x; let { ...q } = x; ({ b: a, ...r } = x); return [a, r, q]; }", `{"a":1,"b":2}`, `[2,{"a":1},{"a":1,"b":2}]`},
		{"rest of parameters", "function f({ a, ...r }) { return [(({ b, ...s }) => [b, s])(r), (function (n, { ...t }) { return [n, t, arguments.length]; })(1, r)]; }",
			`{"a":1,"b":2,"c":3}`, `[[2,{"c":3}],[1,{"b":2,"c":3},2]]`},
		{"spread", "function f(x) { return [{ ...x, ...'ab', ...null }, [...'ab', ...x.a], Math.max(...x.a)]; }", `{"a":[1,2]}`, `[{"0":"a","1":"b","a":[1,2]},["a","b",1,2],2]`},
		{"sort by text", "function f(x) { return [[10, 9, undefined, 1, 'b', null, 'a'].sort(), x.sort((a, b) => b - a), ['b', 'a'].toSorted ? ['b', 'a'].toSorted() : ['a', 'b']]; }",
			"[1,10,9]", `[[1,10,9,"a","b",null,null],[10,9,1],["a","b"]]`},
		{"search in an array", "function f(x) { return [x.indexOf('b'), x.includes('c'), x.lastIndexOf('a')]; }", `["a","b","a"]`, "[1,false,2]"},
		{"many parts", "function f(x) { return (" + strings.Repeat("x + ", 9000) + "x).length; }", `"ab"`, "18002"},
		{"keys of a text", "function f(x) { return [Object.keys(x), Object.entries('a'), Object.assign({}, 'a')]; }", `"ab"`, `[["0","1"],[["0","a"]],{"0":"a"}]`},
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

// TestOneStepMakesNoMoreThanItsBound has scripts that would make gigabytes in one instruction or one call of a built-in,
// where nothing can interrupt them. Each is refused before it is made.
//
//nolint:paralleltest // the memory of the process is measured
func TestOneStepMakesNoMoreThanItsBound(t *testing.T) {
	const million, long = "var m = 'a'.repeat(1e6); ", "var s = 'a'.repeat(16e6); "
	for _, c := range []struct{ name, body, says string }{
		{"doubling", "var s = 'a'; for (;;) s += s;", "made a string of more than"},
		{"doubling that goes on", "var s = 'a'; for (;;) try { s += s; } catch (e) {}", "made a string of more than"},
		{"doubling of a sum that goes on", "var s = 'a'; for (var i = 0; i < 30; i++) try { s = s + s; } catch (e) {} return s.length", ""},
		{"doubling of a member", "var o = { s: '€' }; for (;;) o.s = o.s + o.s;", "too long"},
		{"template of long texts", long + "return `" + strings.Repeat("${s}", 900) + "`", "too long"},
		{"template of very many texts", "return `" + strings.Repeat("${1}", 1001) + "`", "more than 1000"},
		{"templates in each other", "var s = 'a'; for (;;) s = `${s}${s}${s}${s}${s}${s}`", "too long"},
		{"concat of objects", long + "var o = { toString() { return s; } }; return ''.concat(o, o, o)", "too long"},
		{"join of objects", long + "return new Array(1000).fill({ toString() { return s; } }).join('')", "too long"},
		{"text of an array", long + "return '' + new Array(1000).fill([s])", "too long"},
		{"array as a name", long + "var o = {}; o[new Array(1000).fill(s)] = 1;", "too long"},
		{"replacement by what is around", "return 'a'.repeat(1000).replace(/a/g, \"$'\".repeat(1000))", "too long"},
		{"replacement by the match", "return 'a'.repeat(200000).replace(/a+/g, '$&'.repeat(1000))", "too long"},
		{"replacement by a function", long + "return 'aaa'.replace(/a/g, () => s)", "too long"},
		{"replacement by a symbol", "return /a/g[Symbol.replace]('a'.repeat(20000), \"$'\".repeat(200))", "too long"},
		{"replacement by a symbol and a function", long + "return /a/g[Symbol.replace]('aaa', () => s)", "too long"},
		{"text of an error", "var e = { name: 'a' }; e.message = e.name; for (;;) e.name = e.message = Error.prototype.toString.call(e);", "too long"},
		{"text of a pattern", "var t = 'a'; for (;;) t = RegExp.prototype.toString.call({ source: t, flags: t });", "too long"},
		{"keys of a text", long + "return Object.keys(s)", "taken apart"},
		{"entries of a text", long + "return Object.entries(new String(s))", "taken apart"},
		{"assigned text", long + "return Object.assign({}, s)", "taken apart"},
		{"descriptors of a text", long + "return Object.getOwnPropertyDescriptors(s)", "taken apart"},
		{"own keys of a text", long + "return Reflect.ownKeys(new String(s))", "taken apart"},
		{"frozen text", long + "return Object.freeze(new String(s))", "taken apart"},
		{"text in an object", long + "return { ...s }", "taken apart"},
		{"text in an array", long + "return [...s]", "taken apart"},
		{"text as an array", long + "return [].slice.call(s)", "taken apart"},
		{"rest of a text", long + "var { ...r } = s;", "taken apart"},
		{"assigned rest of a text", long + "var r; ({ ...r } = s);", "taken apart"},
		{"rest of a parameter", long + "(({ ...r }) => r)(s)", "taken apart"},
		{"rest with a default value", "return (({ ...r }, x = 1) => r)('')", "can't have default values"},
		{"rest inside a pattern", "var { a: { ...r } } = {};", "supported in declarations"},
		{"rest in a loop", "for (var { ...r } of [1]) {}", "supported in declarations"},
		{"JSON of many arrays", "return JSON.parse('[' + '[],'.repeat(1e6) + '1]')", "too many parts"},
		{"search among long texts", million + "return new Array(1e6).fill(m + 'a').indexOf(m + 'b')", "takes too long"},
		{"search from the end", million + "return new Array(1e6).fill(m + 'a').lastIndexOf(m + 'b')", "takes too long"},
		{"long text among others", million + "return new Array(1e6).fill(m + 'a').includes(m + 'b')", "takes too long"},
		{"normalization", "return 'é'.repeat(2e6).normalize('NFKD')", "too long"},
		{"upper case", "return 'é'.repeat(16e6).toUpperCase()", "too long"},
		{"escapes", "return encodeURIComponent('€'.repeat(4e6))", "too long"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := call(t, script.Limits{}, "function f() { "+c.body+" }")
			runtime.ReadMemStats(&after)
			var refusal *script.Error
			if c.says != "" && (!errors.As(err, &refusal) || refusal.Status != 400 || !strings.Contains(refusal.Message, c.says)) {
				t.Errorf("got %v; want 400 with %q", err, c.says)
			}
			if made := (after.TotalAlloc - before.TotalAlloc) >> 20; made > 300 {
				t.Errorf("it made %d MB", made)
			}
		})
	}
}
