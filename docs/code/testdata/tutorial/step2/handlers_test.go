package notes

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/emulatortest"
)

func TestHandler(t *testing.T) {
	var handler http.Handler
	emulatortest.FX(t, fx.Options(Data, HTTP, fx.Populate(&handler)))
	send := func(token, method, path, body, ifMatch string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+token)
		if ifMatch != "" {
			r.Header.Set("If-Match", ifMatch)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w
	}
	created := send("acme-token", "POST", "/notes", `{"title":"first"}`, "")
	id, _, _ := strings.Cut(strings.SplitN(created.Body.String(), `"id":"`, 2)[1], `"`)
	etag := created.Header().Get("ETag")

	for _, step := range []struct {
		name, token, method, path, body, ifMatch string
		want                                     int
	}{
		{"the owner reads it", "acme-token", "GET", "/notes/" + id, "", "", http.StatusOK},
		{"another tenant does not", "globex-token", "GET", "/notes/" + id, "", "", http.StatusNotFound},
		{"nobody does not", "", "GET", "/notes/" + id, "", "", http.StatusUnauthorized},
		{"a change without a version", "acme-token", "PUT", "/notes/" + id, `{"title":"x"}`, "", http.StatusPreconditionRequired},
		{"a change of the version that was read", "acme-token", "PUT", "/notes/" + id, `{"title":"second"}`, etag, http.StatusOK},
		{"and once more", "acme-token", "PUT", "/notes/" + id, `{"title":"third"}`, etag, http.StatusPreconditionFailed},
		{"a page", "acme-token", "GET", "/notes?size=10", "", "", http.StatusOK},
		{"a forged cursor", "acme-token", "GET", "/notes?cursor=abc", "", "", http.StatusBadRequest},
	} {
		if got := send(step.token, step.method, step.path, step.body, step.ifMatch); got.Code != step.want {
			t.Errorf("%s: %d %s", step.name, got.Code, got.Body)
		}
	}
}
