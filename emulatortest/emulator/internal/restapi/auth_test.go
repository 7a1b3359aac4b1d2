package restapi

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
)

const testKey = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="

// sign makes an authorization header as a client does.
func sign(t testing.TB, key, method, resourceType, resourceLink, date string) string {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, raw)
	mac.Write([]byte(strings.ToLower(method) + "\n" + resourceType + "\n" + resourceLink + "\n" + strings.ToLower(date) + "\n\n"))
	return url.QueryEscape("type=master&ver=1.0&sig=" + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}

func token(parts ...string) string {
	for i, p := range parts {
		parts[i] = base64.RawURLEncoding.EncodeToString([]byte(p))
	}
	return "type=aad&ver=1.0&sig=" + strings.Join(parts, ".")
}

func TestAuthorization(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	date := now.Format(http.TimeFormat)
	stale := now.Add(-16 * time.Minute).Format(http.TimeFormat)
	const path, signed = "/dbs/Db/colls/c/docs/I", "dbs/Db/colls/c/docs/I"
	claims := `{"nbf":` + strconv.FormatInt(now.Unix(), 10) + `,"exp":` + strconv.FormatInt(now.Unix()+60, 10) + `}`
	old := `{"nbf":1,"exp":` + strconv.FormatInt(now.Unix()-3600, 10) + `}`
	otherKey := base64.StdEncoding.EncodeToString([]byte("another key"))
	good := sign(t, testKey, "get", "docs", signed, date)
	decoded, err := url.QueryUnescape(good)
	if err != nil {
		t.Fatal(err)
	}

	cases := []struct {
		name, path, header, date string
		want                     int
	}{
		{"signed", path, good, date, 0},
		{"signed, not URL-encoded", path, decoded, date, 0},
		{"signed at the edge of the time", path, sign(t, testKey, "get", "docs", signed, now.Add(15*time.Minute).Format(http.TimeFormat)), now.Add(15 * time.Minute).Format(http.TimeFormat), 0},
		{"the rid of a feed's parent", "/dbs/K4dvAA==/colls/K4dvAIClggA=/docs", sign(t, testKey, "get", "docs", "k4dvaiclgga=", date), date, 0},
		{"the rid of the resource", "/dbs/K4dvAA==/colls/K4dvAIClggA=", sign(t, testKey, "get", "colls", "k4dvaiclgga=", date), date, 0},
		{"a rid in its own case", "/dbs/K4dvAA==/colls/K4dvAIClggA=", sign(t, testKey, "get", "colls", "K4dvAIClggA=", date), date, 401},
		{"a path of rids", "/dbs/K4dvAA==/colls/K4dvAIClggA=/docs", sign(t, testKey, "get", "docs", "dbs/k4dvaa==/colls/k4dvaiclgga=", date), date, 401},
		{"names in lower case", path, sign(t, testKey, "get", "docs", strings.ToLower(signed), date), date, 401},
		{"no header", path, "", date, 401},
		{"other key", path, sign(t, otherKey, "get", "docs", signed, date), date, 401},
		{"other verb", path, sign(t, testKey, "put", "docs", signed, date), date, 401},
		{"other link", path, sign(t, testKey, "get", "docs", "dbs/Db/colls/c/docs/J", date), date, 401},
		{"other date", path, good, now.Add(time.Second).Format(http.TimeFormat), 401},
		{"no date", path, good, "", 401},
		{"stale date", path, sign(t, testKey, "get", "docs", signed, stale), stale, 403},
		{"nonsense", path, "Bearer abc", date, 401},
		{"other version", path, url.QueryEscape("type=master&ver=2.0&sig=abc"), date, 401},
		{"resource token", path, url.QueryEscape("type=resource&ver=1.0&sig=abc"), date, 401},
		{"Entra token", path, token(`{}`, claims, testKey), "", 0},
		{"Entra token of another key", path, token(`{}`, claims, otherKey), "", 401},
		{"expired Entra token", path, token(`{}`, old, testKey), "", 401},
		{"Entra token without claims", path, token(`{}`, `x`, testKey), "", 401},
		{"Entra token of two parts", path, token(`{}`, claims), "", 401},
	}
	auth, err := newAuthenticator(testKey, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l, err := parseLink(c.path)
			if err != nil {
				t.Fatal(err)
			}
			header := http.Header{}
			header.Set("Authorization", c.header)
			header.Set("x-ms-date", c.date)
			caller, refusal := auth.check(http.MethodGet, l, header)
			got := 0
			if refusal != nil {
				got = refusal.Status
				if strings.Contains(refusal.Message, testKey) {
					t.Error("the refusal tells the key")
				}
			}
			if want := strings.HasPrefix(c.header, "type=aad") && refusal == nil; (caller != nil) != want {
				t.Errorf("the caller is %+v", caller)
			}
			if got != c.want {
				t.Errorf("got %d (%v), want %d", got, refusal, c.want)
			}
		})
	}
}

func TestAuthenticatorRefusesBadKey(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"", "not base64!"} {
		if _, err := newAuthenticator(key, time.Now); err == nil {
			t.Errorf("the key %q was taken", key)
		}
	}
}

func TestEntraTokensMayNotChangeMetadata(t *testing.T) {
	t.Parallel()
	b := setup(t)
	entra := token(`{}`, `{}`, testKey)
	for _, c := range []struct {
		method, path, body string
		want               int
	}{
		{"POST", "/dbs", `{"id":"x"}`, 403},
		{"DELETE", "/dbs/db", "", 403},
		{"POST", "/dbs/db/colls", `{"id":"x","partitionKey":{"paths":["/pk"]}}`, 403},
		{"PUT", "/dbs/db/colls/items", `{"id":"items"}`, 403},
		{"DELETE", "/dbs/db/colls/items", "", 403},
		{"GET", "/dbs/db/colls/items", "", 200},
		{"GET", "/", "", 200},
		{"POST", "/dbs/db/colls/items/docs", `{"id":"1","pk":"a"}`, 201},
	} {
		a := b.do(t, c.method, c.path, c.body, "Authorization", entra, keyHeader, `["a"]`)
		if a.Status != c.want || (a.Status == 403) != (a.Header.Get("x-ms-substatus") == "5300") {
			t.Errorf("%s %s: %d/%s, want %d", c.method, c.path, a.Status, a.Header.Get("x-ms-substatus"), c.want)
		}
	}
}

func TestFeedOverSeveralRangesNeedsOne(t *testing.T) {
	t.Parallel()
	b := setup(t)
	db, err := b.account.Database("db")
	if err != nil {
		t.Fatal(err)
	}
	container, err := db.Container("items")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := container.Split("0"); err != nil {
		t.Fatal(err)
	}
	const docs = "/dbs/db/colls/items/docs"
	for _, c := range []struct {
		headers []string
		want    int
	}{
		{[]string{"A-IM", "Incremental Feed"}, 400},
		{[]string{"A-IM", "Incremental Feed", "x-ms-documentdb-partitionkeyrangeid", "1"}, 304},
		{[]string{"A-IM", "Incremental Feed", "x-ms-documentdb-partitionkeyrangeid", "0"}, 410},
		{[]string{"A-IM", "Incremental Feed", keyHeader, `["a"]`}, 304},
	} {
		if a := b.do(t, "GET", docs, "", c.headers...); a.Status != c.want {
			t.Errorf("%v: %d %s, want %d", c.headers, a.Status, a.Body, c.want)
		}
	}
}
