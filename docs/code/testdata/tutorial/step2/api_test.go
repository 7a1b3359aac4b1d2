package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/fx"
)

// send sends a request of a tenant to the service.
func send(handler http.Handler, tenant, method, path, body, ifMatch string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+tenant+"-token")
	if ifMatch != "" {
		r.Header.Set("If-Match", ifMatch)
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

// create stores a product and returns its path and its version.
func create(handler http.Handler) (path, etag string) {
	created := send(handler, "acme", "POST", "/products", `{"name":"Kettle","cents":4900}`, "")
	id, _, _ := strings.Cut(strings.SplitN(created.Body.String(), `"id":"`, 2)[1], `"`)
	return "/products/" + id, created.Header().Get("ETag")
}

func TestProductsOverHTTP(t *testing.T) {
	var handler http.Handler
	start(t, fx.Populate(&handler))
	path, etag := create(handler)
	for _, step := range []struct {
		name, tenant, method, path, body, ifMatch string
		want                                      int
	}{
		{"the owner reads it", "acme", "GET", path, "", "", 200},
		{"another tenant does not", "globex", "GET", path, "", "", 404},
		{"nobody does not", "", "GET", path, "", "", 401},
		{"no name", "acme", "POST", "/products", `{"cents":1}`, "", 400},
		{"a change without a version", "acme", "PUT", path, `{"name":"Pot"}`, "", 428},
		{"a change of the version that was read", "acme", "PUT", path, `{"name":"Pot"}`, etag, 200},
		{"and once more", "acme", "PUT", path, `{"name":"Pan"}`, etag, 412},
		{"a page", "acme", "GET", "/products?size=10", "", "", 200},
		{"a forged cursor", "acme", "GET", "/products?cursor=abc", "", "", 400},
	} {
		if got := send(handler, step.tenant, step.method, step.path, step.body, step.ifMatch); got.Code != step.want {
			t.Errorf("%s: %d %s", step.name, got.Code, got.Body)
		}
	}
}
