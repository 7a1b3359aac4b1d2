package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/httpapi"
	"github.com/cosmosgrove/grove/tenantitem"
)

func ExampleStatus() {
	fmt.Println(httpapi.Status(nil), httpapi.Status(repository.ErrNotFound), httpapi.Status(errors.New("anything else")))
	// Output: 200 404 500
}

func ExampleWriteError() {
	w := httptest.NewRecorder()
	httpapi.WriteError(w, httptest.NewRequest(http.MethodGet, "/notes/7", nil), repository.ErrThrottled)
	fmt.Println(w.Code, "Retry-After:", w.Header().Get("Retry-After"))
	fmt.Print(w.Body)
	// Output:
	// 429 Retry-After: 1
	// {"title":"Too Many Requests","status":429,"code":"throttled","detail":"try again later"}
}

func ExampleProblem() {
	sell := httpapi.JSON(http.StatusCreated, func(http.ResponseWriter, *http.Request) (any, error) {
		return nil, &httpapi.Problem{Status: http.StatusConflict, Code: "sold-out", Detail: "there is none left"}
	})
	w := httptest.NewRecorder()
	sell.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/orders", nil))
	fmt.Print(w.Body)
	// Output: {"title":"Conflict","status":409,"code":"sold-out","detail":"there is none left"}
}

func ExampleJSON() {
	b, end := exampleSetup()
	defer end()
	get := httpapi.JSON(http.StatusOK, func(_ http.ResponseWriter, r *http.Request) (any, error) {
		return b.notes.In("acme").Get(r.Context(), r.PathValue("id"))
	})
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/notes/7", nil)
	r.SetPathValue("id", "7")
	get.ServeHTTP(w, r)
	fmt.Print(w.Body)
	// Output: {"title":"Not Found","status":404,"code":"not-found","detail":"Note \"7\": not found"}
}

func ExampleReadJSON() {
	create := httpapi.JSON(http.StatusCreated, func(w http.ResponseWriter, r *http.Request) (any, error) {
		var input struct {
			Title string `json:"title"`
		}
		if err := httpapi.ReadJSON(w, r, &input); err != nil {
			return nil, err
		}
		return input, nil
	})
	for _, body := range []string{`{"title":"first","tenantId":"another"}`, `{"title":1}`} {
		w := httptest.NewRecorder()
		create.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/notes", strings.NewReader(body)))
		fmt.Println(strings.TrimSpace(w.Body.String()))
	}
	// Output:
	// {"title":"first"}
	// {"title":"Bad Request","status":400,"code":"invalid","detail":"the body has a value of another type in title"}
}

func ExampleMiddleware() {
	tokens := map[string]string{"Bearer 123": "acme"}
	api := httpapi.JSON(http.StatusOK, func(_ http.ResponseWriter, r *http.Request) (any, error) {
		tenant, _ := repository.TenantFrom(r.Context())
		return "a request of " + tenant, nil
	})
	handler := httpapi.Middleware(httpapi.Config{
		Tenant: func(r *http.Request) (string, error) { return tokens[r.Header.Get("Authorization")], nil },
		Budget: 100,
	})(api)
	for _, token := range []string{"Bearer 123", "Bearer 456"} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Authorization", token)
		handler.ServeHTTP(w, r)
		fmt.Println(w.Code, strings.TrimSpace(w.Body.String()))
	}
	// Output:
	// 200 "a request of acme"
	// 401 {"title":"Unauthorized","status":401,"code":"unauthorized","detail":"the request names no tenant that it may act for"}
}

func ExampleConfig() {
	handler := httpapi.Middleware(httpapi.Config{RequireIfMatch: true})(http.NotFoundHandler())
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodPut, "/notes/7", strings.NewReader("{}")))
	fmt.Println(w.Code)
	// Output: 428
}

func ExampleIfMatch() {
	b, end := exampleSetup()
	defer end()
	acme := b.notes.In("acme")
	replace := httpapi.JSON(http.StatusOK, func(_ http.ResponseWriter, r *http.Request) (any, error) {
		etag, err := httpapi.IfMatch(r, acme, r.PathValue("id"))
		if err != nil {
			return nil, err
		}
		note := &Note{Title: "new"}
		note.ID, note.ETag = r.PathValue("id"), etag
		return note, acme.Replace(r.Context(), note)
	})
	note := &Note{TenantItem: tenantitem.TenantItem[Note]{Meta: tenantitem.Meta{ID: "7"}}, Title: "old"}
	if err := acme.Create(context.Background(), note); err != nil {
		fmt.Println(err)
	}
	for _, header := range []string{`"another"`, note.ETag} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPut, "/notes/7", nil)
		r.SetPathValue("id", "7")
		r.Header.Set("If-Match", header)
		replace.ServeHTTP(w, r)
		fmt.Println(w.Code)
	}
	// Output:
	// 412
	// 200
}

func ExampleGetter() {
	b, end := exampleSetup()
	defer end()
	var _ httpapi.Getter[Note] = b.notes.In("acme")                    // of a root
	var _ httpapi.Getter[Comment] = b.comments.UnderID("acme", "note") // of children
	// Output:
}

func ExamplePageOptions() {
	options, err := httpapi.PageOptions(httptest.NewRequest(http.MethodGet, "/notes?size=25&cursor=abc", nil))
	fmt.Println(options.Size, options.Cursor, err)
	// Output: 25 abc <nil>
}

func ExampleLinkNext() {
	w := httptest.NewRecorder()
	httpapi.LinkNext(w, httptest.NewRequest(http.MethodGet, "/notes?size=25&cursor=abc", nil), "def")
	fmt.Println(w.Header().Get("Link"))
	// Output: <?cursor=def&size=25>; rel="next"
}
