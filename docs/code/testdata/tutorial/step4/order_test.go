package main

import (
	"net/http"
	"strings"
	"testing"

	"go.uber.org/fx"
)

func TestOrders(t *testing.T) {
	var handler http.Handler
	start(t, fx.Populate(&handler))
	path, etag := create(handler)
	changed := send(handler, "acme", "PATCH", path, `{"cents":100}`, etag)
	if changed.Code != 200 || !strings.Contains(changed.Body.String(), `"cents":100`) {
		t.Fatal(changed.Code, changed.Body)
	}
	for _, step := range []struct {
		name, method, path, want string
		status                   int
	}{
		{"deleted", "DELETE", path, "", 204},
		{"gone", "GET", path, "not-found", 404},
		{"an order of nothing", "POST", path + "/orders", "dangling-reference", 409},
		{"restored", "POST", path + "/restore", `"cents":100`, 200},
		{"an order keeps the price", "POST", path + "/orders", `"cents":100`, 201},
		{"ordered, and so not deleted", "DELETE", path, "referenced", 409},
	} {
		got := send(handler, "acme", step.method, step.path, "", "*")
		if got.Code != step.status || !strings.Contains(got.Body.String(), step.want) {
			t.Errorf("%s: %d %s", step.name, got.Code, got.Body)
		}
	}
}
