package httpapi_test

import (
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/repository/httpapi"
	"github.com/cosmosgrove/grove/tenantitem"
)

func TestJSON(t *testing.T) {
	t.Parallel()
	note := &Note{Title: "x"}
	note.ETag = `"1"`
	for _, tc := range []struct {
		name         string
		body         any
		status       int
		want, etag   string
		contentType  string
		answerStatus int
	}{
		{"an entity", note, 200, `"title":"x"`, `"1"`, "application/json", 200},
		{"an entity that was not stored", &Note{}, 201, `"title":""`, "", "application/json", 201},
		{"a list", []string{"x"}, 200, `["x"]`, "", "application/json", 200},
		{"nothing", nil, 204, "", "", "", 204},
		{"what JSON can't hold", math.NaN(), 200, `"internal"`, "", "application/problem+json", 500},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := httptest.NewRecorder()
			httpapi.JSON(tc.status, func(http.ResponseWriter, *http.Request) (any, error) { return tc.body, nil }).
				ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
			if w.Code != tc.answerStatus || w.Header().Get("ETag") != tc.etag || w.Header().Get("Content-Type") != tc.contentType || !strings.Contains(w.Body.String(), tc.want) {
				t.Errorf("got %d, %v, %s", w.Code, w.Header(), w.Body)
			}
		})
	}
}

func TestReadJSON(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, body string
		status     int
		detail     string
	}{
		{"what fits", `{"title":"x","more":1}`, 200, ""},
		{"nothing", ``, 400, "not the JSON"},
		{"half", `{"title":`, 400, "not the JSON"},
		{"no JSON", `SECRET`, 400, "not the JSON"},
		{"another type", `{"title":{"SECRET":1}}`, 400, "another type in title"},
		{"a list", `["SECRET"]`, 400, "not the JSON"},
		{"too much", `{"title":"` + strings.Repeat("x", tenantitem.MaxDocumentBytes) + `"}`, 413, "too large"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", strings.NewReader(tc.body))
			var input struct {
				Title string `json:"title"`
			}
			err := httpapi.ReadJSON(w, r, &input)
			if httpapi.Status(err) != tc.status {
				t.Fatalf("got %v", err)
			}
			if err == nil {
				return
			}
			httpapi.WriteError(w, r, err)
			if p := problemOf(t, w); !strings.Contains(p.Detail, tc.detail) || strings.Contains(w.Body.String(), "SECRET") {
				t.Errorf("got %s", w.Body)
			}
		})
	}
}
