package restapi

import (
	"net/http"
	"testing"
	"time"
)

// The service reads a date in one form and ignores every other, so that the feed starts at the beginning.
func TestOnlyOneFormOfDateStartsTheFeed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const docs = "/dbs/db/colls/items/docs"
	b.do(t, "POST", docs, `{"id":"1","pk":"a"}`, keyHeader, `["a"]`)
	later := time.Now().UTC().Add(time.Hour)
	for _, c := range []struct {
		name, since string
		want        int
	}{
		{"RFC 1123, GMT", later.Format(http.TimeFormat), http.StatusNotModified},
		{"RFC 1123, UTC", later.Format(time.RFC1123), http.StatusOK},
		{"RFC 1123, offset", later.Format(time.RFC1123Z), http.StatusOK},
		{"ISO 8601", later.Format(time.RFC3339), http.StatusOK},
		{"RFC 850", later.Format(time.RFC850), http.StatusOK},
		{"asctime", later.Format(time.ANSIC), http.StatusOK},
		{"words", "tomorrow", http.StatusOK},
		{"none", "", http.StatusOK},
	} {
		a := b.do(t, "GET", docs, "", "A-IM", "Incremental Feed", "If-Modified-Since", c.since)
		if a.Status != c.want {
			t.Errorf("%s: %d %s, want %d", c.name, a.Status, a.Body, c.want)
		}
	}
}

// A continuation is where to go on, whatever start stands beside it: clients drop the start once they have a continuation,
// and those that don't mean the continuation.
func TestContinuationExcludesTheStart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const docs = "/dbs/db/colls/items/docs"
	b.do(t, "POST", docs, `{"id":"1","pk":"a"}`, keyHeader, `["a"]`)
	first := b.do(t, "GET", docs, "", "A-IM", "Incremental Feed")
	b.do(t, "POST", docs, `{"id":"2","pk":"a"}`, keyHeader, `["a"]`)
	future := time.Now().UTC().Add(time.Hour).Format(http.TimeFormat)
	past := time.Now().UTC().Add(-time.Hour).Format(http.TimeFormat)
	for _, c := range []struct {
		name, position, since string
		want                  int
	}{
		{"a continuation and a later start", first.Header.Get("etag"), future, http.StatusOK},
		{"the first continuation and a later start", `"0"`, future, http.StatusOK},
		{"now and an earlier start", "*", past, http.StatusNotModified},
	} {
		a := b.do(t, "GET", docs, "", "A-IM", "Incremental Feed", "If-None-Match", c.position, "If-Modified-Since", c.since)
		if a.Status != c.want {
			t.Errorf("%s: %d %s, want %d", c.name, a.Status, a.Body, c.want)
		}
	}
}
