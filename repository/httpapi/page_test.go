package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/httpapi"
)

func TestPageOptions(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		query  string
		want   repository.PageOptions
		status int
	}{
		{"", repository.PageOptions{}, 200},
		{"size=25&cursor=abc", repository.PageOptions{Size: 25, Cursor: "abc"}, 200},
		{"size=0", repository.PageOptions{}, 400},
		{"size=-1", repository.PageOptions{}, 400},
		{"size=many", repository.PageOptions{}, 400},
		{"size=99999999999999999999", repository.PageOptions{}, 400},
	} {
		got, err := httpapi.PageOptions(httptest.NewRequest(http.MethodGet, "/notes?"+tc.query, nil))
		if got != tc.want || httpapi.Status(err) != tc.status {
			t.Errorf("%q: %+v, %v", tc.query, got, err)
		}
	}
}

// A client that follows the links gets every document once.
func TestLinkNext(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 7 {
		check(t, b.notes.In("acme").Create(t.Context(), &Note{Title: "x"}))
	}
	seen := 0
	server := httptest.NewServer(httpapi.JSON(http.StatusOK, func(w http.ResponseWriter, r *http.Request) (any, error) {
		options, err := httpapi.PageOptions(r)
		if err != nil {
			return nil, err
		}
		page, err := b.notes.In("acme").Page(r.Context(), repository.Where(repository.Eq("title", r.URL.Query().Get("title"))), options)
		if err != nil {
			return nil, err
		}
		seen += len(page.Items)
		httpapi.LinkNext(w, r, page.Cursor)
		return page.Items, nil
	}))
	defer server.Close()
	at := must(url.Parse(server.URL + `/a/notes?title=x&size=3&odd=%3E%3B%0D%0A`))
	pages := 0
	for pages < 10 {
		response := must(server.Client().Get(at.String()))
		check(t, response.Body.Close())
		if response.StatusCode != http.StatusOK {
			t.Fatalf("page %d: %s", pages, response.Status)
		}
		pages++
		link := response.Header.Get("Link")
		if link == "" {
			break
		}
		target, ok := strings.CutSuffix(strings.TrimPrefix(link, "<"), `>; rel="next"`)
		if !ok || strings.Contains(target, ">") {
			t.Fatalf("the link is %s", link)
		}
		at = at.ResolveReference(must(url.Parse(target)))
		if at.Path != "/a/notes" || at.Query().Get("odd") != ">;\r\n" {
			t.Fatalf("the link leads to %s", at)
		}
	}
	if seen != 7 || pages != 3 {
		t.Errorf("%d documents on %d pages", seen, pages)
	}
	server.CloseClientConnections()
	server.Client().CloseIdleConnections()
}
