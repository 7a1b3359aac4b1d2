package restapi

import "testing"

func TestParseLink(t *testing.T) {
	t.Parallel()
	cases := []struct {
		path                      string
		kind                      resourceKind
		database, container, item string
		signedType, signedLink    string
	}{
		{"/", kindAccount, "", "", "", "", ""},
		{"", kindAccount, "", "", "", "", ""},
		{"/dbs", kindDatabases, "", "", "", "dbs", ""},
		{"/dbs/", kindDatabases, "", "", "", "dbs", ""},
		{"/dbs/Db", kindDatabase, "Db", "", "", "dbs", "dbs/Db"},
		{"/dbs/d/colls", kindContainers, "d", "", "", "colls", "dbs/d"},
		{"/dbs/d/colls/C/", kindContainer, "d", "C", "", "colls", "dbs/d/colls/C"},
		{"/dbs/d/colls/c/docs", kindItems, "d", "c", "", "docs", "dbs/d/colls/c"},
		{"/dbs/d/colls/c/docs/i", kindItem, "d", "c", "i", "docs", "dbs/d/colls/c/docs/i"},
		{"/dbs/d/colls/c/docs/a%2Fb%20c", kindItem, "d", "c", "a/b c", "docs", "dbs/d/colls/c/docs/a/b c"},
		{"/dbs/d/colls/c/docs/a%2520b", kindItem, "d", "c", "a%20b", "docs", "dbs/d/colls/c/docs/a%20b"},
		{"/dbs/d/colls/c/docs/%20", kindItem, "d", "c", " ", "docs", "dbs/d/colls/c/docs/ "},
		{"/dbs/d/colls/c/pkranges", kindRanges, "d", "c", "", "pkranges", "dbs/d/colls/c"},
		{"/dbs/d/colls/c/sprocs/s", kindScript, "d", "c", "", "sprocs", "dbs/d/colls/c/sprocs/s"},
		{"/dbs/d/colls/c/operations/partitionkeydelete", kindKeyDelete, "d", "c", "", "colls", "dbs/d/colls/c"},
		{"/offers", kindOffers, "", "", "", "offers", ""},
		{"/offers/Ab1C/", kindOffer, "", "", "Ab1C", "offers", "ab1c"},
		{"/dbs/d/users/u", kindUser, "d", "", "", "users", "dbs/d/users/u"},
		{"/dbs/d/users/u/permissions", kindPermissions, "d", "", "", "permissions", "dbs/d/users/u"},
		{"/dbs/d/users/u/permissions/p", kindPermission, "d", "", "", "permissions", "dbs/d/users/u/permissions/p"},
		{"/dbs/d/colls/c/docs/i/attachments", kindUnsupported, "d", "c", "", "attachments", "dbs/d/colls/c/docs/i"},
	}
	for _, c := range cases {
		t.Run(c.path, func(t *testing.T) {
			t.Parallel()
			l, err := parseLink(c.path)
			if err != nil {
				t.Fatal(err)
			}
			if l.kind != c.kind || l.database != c.database || l.container != c.container || l.item != c.item {
				t.Errorf("got %+v", l)
			}
			if typ, signed := l.signed(); typ != c.signedType || signed != c.signedLink {
				t.Errorf("signs %q %q, want %q %q", typ, signed, c.signedType, c.signedLink)
			}
		})
	}
}

func TestParseLinkRefuses(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		"/nothing", "/dbs//colls", "/dbs/d/nothing", "/dbs/d/colls/c/nothing", "/dbs/%zz", "/dbs/d/colls/c/operations/other",
		"/offers/a/b", "/dbs/d/colls/c/docs/i/attachments/a/b",
	} {
		if l, err := parseLink(path); err == nil {
			t.Errorf("%s was read as %+v", path, l)
		}
	}
}

func FuzzLink(f *testing.F) {
	for _, seed := range []string{"/", "/dbs/d/colls/c/docs/a%2Fb", "/offers/x/", "/dbs/d/colls/c/operations/partitionkeydelete", "//%"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		l, err := parseLink(path)
		if err != nil {
			return
		}
		l.signed()
		_ = l.String()
	})
}
