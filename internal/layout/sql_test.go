package layout_test

import (
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/internal/layout"
)

func TestSQL(t *testing.T) {
	t.Parallel()
	l := must(t, layout.Options{
		IDPrefix: "Note|", Envelope: "value", Names: map[string]string{"tenantId": "org", "title": "Title", "_ops": "marks"},
	})
	for canonical, want := range map[string]string{
		`SELECT * FROM c WHERE c["tenantId"] = @p0`:                                 `SELECT * FROM c WHERE c["org"] = @p0`,
		`SELECT VALUE c FROM c WHERE c.title = 'c.title' AND c.tags[0]=1`:           `SELECT VALUE c FROM c WHERE c["value"]["Title"] = 'c.title' AND c["value"]["tags"][0]=1`,
		`SELECT VALUE {"id": c.id, "c": c._ops} FROM c ORDER BY c.id`:               `SELECT VALUE {"id": SUBSTRING(c["id"], 5, LENGTH(c["id"])), "c": c["marks"]} FROM c ORDER BY c["id"]`,
		`FROM c WHERE NOT IS_DEFINED(c.deletedAt)`:                                  `FROM c WHERE NOT IS_DEFINED(c["deletedAt"])`,
		`EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t.c.title = "it\"s c.title")`: `EXISTS(SELECT VALUE t FROM t IN c["value"]["tags"] WHERE t.c.title = "it\"s c.title")`,
		`c . title = @c AND abc.title = @c.title`:                                   `c["value"]["Title"] = @c AND abc.title = @c.title`,
		`c['title'] = 1 AND c["_stored"]["a"]["b"] = 2`:                             `c["value"]["Title"] = 1 AND c["a"]["b"] = 2`,
		`c[@name] = 1`: `c[@name] = 1`,
	} {
		if have := l.SQL(canonical); have != want {
			t.Errorf("%s\nhave %s\nwant %s", canonical, have, want)
		}
	}
	var none *layout.Layout
	if text := `SELECT * FROM c WHERE c.title = 1`; none.SQL(text) != text {
		t.Error("Grove's own form was changed")
	}
}

// Odd texts: only paths of the document are mapped, however they are written, and
// what a subquery calls by the document's name is left alone.
func TestOddSQL(t *testing.T) {
	t.Parallel()
	l := must(t, layout.Options{
		IDPrefix: "Note|", Envelope: "value", Names: map[string]string{"tenantId": "org", "title": "Title", "c": "C", "a\"b": "ab"},
	})
	for _, c := range []struct{ name, canonical, want string }{
		{"blanks after a dot", `t. c.title = 1`, `t. c.title = 1`},
		{"blanks around dots", "t\t.\n c.title = c \r\n .\u00a0title", "t\t.\n c.title = c[\"value\"][\"Title\"]"},
		{"a comment after a dot", `t./* c.title */c.title = c/**/.title -- c.title`, `t./* c.title */c.title = c["value"]["Title"] -- c.title`},
		{"a comment that is not closed", `c.title /* c.title`, `c["value"]["Title"] /* c.title`},
		{"minus is no comment", `c.a - -c.title`, `c["value"]["a"] - -c["value"]["Title"]`},
		{"a member called as the document", `c.c = t.c AND c["c"].c = 1`, `c["value"]["C"] = t.c AND c["value"]["C"]["c"] = 1`},
		{"an object's member", `{c: c.title, "c": c.c} = {title: 1}`, `{c: c["value"]["Title"], "c": c["value"]["C"]} = {title: 1}`},
		{"quotes in strings", `'it\'s c.title' != "\"c.title" AND "\\" = c.title`, `'it\'s c.title' != "\"c.title" AND "\\" = c["value"]["Title"]`},
		{"quotes in names", `c['a"b'] = c["a\"b"] AND c['a\"b'] = c["a\u0022b"]`, `c["value"]["ab"] = c["value"]["ab"] AND c["value"]["ab"] = c["value"]["ab"]`},
		{"names with escapes", `c["\u0074itle"] = c["\uD83D\uDE00\/\n"]`, `c["value"]["Title"] = c["value"]["😀/\n"]`},
		{"a name that is no string", `c["\q"] = c['title`, `c["\q"] = c['title`},
		{"other names", `abc.title = c1.title AND @c.title = $c.title AND C.title = éc.title`, `abc.title = c1.title AND @c.title = $c.title AND C.title = éc.title`},
		{"a function of the name", `udf.c(c.title) = c(1).title`, `udf.c(c["value"]["Title"]) = c(1).title`},
		{"an index", `c.tags[0].title = c["tags"] [ 1 ] .c`, `c["value"]["tags"][0].title = c["value"]["tags"] [ 1 ] .c`},
		{"an alias called as the document", `EXISTS(SELECT VALUE c FROM c IN c.tags WHERE c.title = 1) AND c.title = 2`, `EXISTS(SELECT VALUE c FROM c IN c["value"]["tags"] WHERE c.title = 1) AND c["value"]["Title"] = 2`},
		{"and in a subquery of it", `EXISTS(SELECT VALUE c FROM c IN c.tags WHERE ARRAY(SELECT VALUE t FROM t IN c.title) = c.a)`, `EXISTS(SELECT VALUE c FROM c IN c["value"]["tags"] WHERE ARRAY(SELECT VALUE t FROM t IN c.title) = c.a)`},
		{"a join called as the document", `EXISTS(SELECT VALUE t.c FROM t IN c.tags JOIN c IN c.items JOIN x IN c.tags)`, `EXISTS(SELECT VALUE t.c FROM t IN c["value"]["tags"] JOIN c IN c["value"]["items"] JOIN x IN c.tags)`},
		{"a path called as the document", `(SELECT VALUE c.title FROM c.items c) = (SELECT VALUE c.title FROM t.c) AND (SELECT VALUE c.a FROM c.items.c)`, `(SELECT VALUE c.title FROM c["value"]["items"] c) = (SELECT VALUE c.title FROM t.c) AND (SELECT VALUE c.a FROM c["value"]["items"]["c"] AS c)`},
		{"the document called otherwise", `(SELECT VALUE [d.title, c.title] FROM c AS d) = (SELECT VALUE c.title FROM c JOIN c.tags x)`, `(SELECT VALUE [d["value"]["Title"], c["value"]["Title"]] FROM c AS d) = (SELECT VALUE c["value"]["Title"] FROM c JOIN c["value"]["tags"] x)`},
		{"a name that the path says", `EXISTS(SELECT VALUE title FROM c.title WHERE title.x = 1)`, `EXISTS(SELECT VALUE title FROM c["value"]["Title"] AS title WHERE title.x = 1)`},
		{"an element called as the document", `(SELECT VALUE c.title FROM c.items[0] AS c) = (SELECT VALUE c.title FROM c.items[0].c) = (SELECT VALUE c.a FROM c.items[0])`, `(SELECT VALUE c.title FROM c["value"]["items"][0] AS c) = (SELECT VALUE c.title FROM c["value"]["items"][0].c AS c) = (SELECT VALUE c["value"]["a"] FROM c["value"]["items"][0])`},
		{"names of what is selected", `ARRAY(SELECT c.title, c.a AS b, c["title"], LOWER(c.title), {"c": c.c}, c.id FROM t IN c.tags)`, `ARRAY(SELECT c["value"]["Title"] AS title, c["value"]["a"] AS b, c["value"]["Title"] AS title, LOWER(c["value"]["Title"]), {"c": c["value"]["C"]}, c["id"] AS id FROM t IN c["value"]["tags"])`},
		{"selected from the document", `SELECT DISTINCT TOP 5 c.id, c.title FROM c WHERE c.id = 1`, `SELECT DISTINCT TOP 5 SUBSTRING(c["id"], 5, LENGTH(c["id"])) AS id, c["value"]["Title"] AS title FROM c WHERE c["id"] = 1`},
		{"a member called as a clause", `SELECT VALUE {"a": c["from"], "b": t.from, "id": c.id} FROM c`, `SELECT VALUE {"a": c["value"]["from"], "b": t.from, "id": SUBSTRING(c["id"], 5, LENGTH(c["id"]))} FROM c`},
		{"the ternary and the coalescing operator", `c.a ? c.title : c.c ?? c.b`, `c["value"]["a"] ? c["value"]["Title"] : c["value"]["C"] ?? c["value"]["b"]`},
		{"the whole document", `IS_DEFINED(c) AND c != [c]`, `IS_DEFINED(c) AND c != [c]`},
		{"brackets that are not closed", `(SELECT c.title FROM (c.title`, `(SELECT c["value"]["Title"] AS title FROM (c["value"]["Title"]`},
	} {
		if have := l.SQL(c.canonical); have != c.want {
			t.Errorf("%s: %s\nhave %s\nwant %s", c.name, c.canonical, have, c.want)
		}
	}
}

func FuzzSQL(f *testing.F) {
	for _, seed := range []string{
		`SELECT * FROM c WHERE c["x"] = 'a\'b' AND c . y[`, `(SELECT c.a FROM c IN c.b JOIN c.d) /* c.a`, `EXISTS(SELECT VALUE c FROM c.a)`, `FROM FROM JOIN c IN`, `SELECT ,c.a,`,
	} {
		f.Add(seed)
	}
	l := must(f, layout.Options{Envelope: "value", IDPrefix: "n|", Names: map[string]string{"a": "b"}})
	same := must(f, layout.Options{})
	f.Fuzz(func(t *testing.T, text string) {
		_ = l.SQL(text)
		if plain := strings.NewReplacer("c", "d", "C", "D").Replace(text); !strings.Contains(text, "d") && l.SQL(plain) != plain {
			t.Errorf("%q, which has no path of the document, became %q", plain, l.SQL(plain))
		}
		if once := same.SQLOfAny(text); same.SQLOfAny(once) != once {
			t.Errorf("%q became %q, and that %q", text, once, same.SQLOfAny(once))
		}
	})
}
