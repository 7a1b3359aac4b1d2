package notes

import (
	"net/http"

	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/httpapi"
)

// HTTP is the service over HTTP: it provides the http.Handler.
var HTTP = fx.Provide(newHandler, func() httpapi.Config {
	return httpapi.Config{Tenant: tenantOf, Budget: 200, RequireIfMatch: true}
})

// newHandler serves the notes of all tenants.
func newHandler(notes *repository.Repository[Note], cfg httpapi.Config) http.Handler {
	a, mux := &api{notes}, http.NewServeMux()
	mux.Handle("POST /notes", httpapi.JSON(http.StatusCreated, a.create))
	mux.Handle("GET /notes", httpapi.JSON(http.StatusOK, a.list))
	mux.Handle("GET /notes/{id}", httpapi.JSON(http.StatusOK, a.get))
	mux.Handle("PUT /notes/{id}", httpapi.JSON(http.StatusOK, a.replace))
	return httpapi.Middleware(cfg)(mux)
}

type api struct{ notes *repository.Repository[Note] }

// input is what a client may write.
type input struct {
	Title string `json:"title"`
}

func (a *api) create(w http.ResponseWriter, r *http.Request) (any, error) {
	var in input
	if err := httpapi.ReadJSON(w, r, &in); err != nil {
		return nil, err
	}
	note := &Note{Title: in.Title}
	return note, a.scope(r).Create(r.Context(), note)
}

func (a *api) get(_ http.ResponseWriter, r *http.Request) (any, error) {
	return a.scope(r).Get(r.Context(), r.PathValue("id"))
}

func (a *api) replace(w http.ResponseWriter, r *http.Request) (any, error) {
	var in input
	if err := httpapi.ReadJSON(w, r, &in); err != nil {
		return nil, err
	}
	scope, id := a.scope(r), r.PathValue("id")
	etag, err := httpapi.IfMatch(r, scope, id)
	if err != nil {
		return nil, err
	}
	note, err := scope.Get(r.Context(), id)
	if err != nil {
		return nil, err
	}
	note.Title, note.ETag = in.Title, etag // of the version that the client has read
	return note, scope.Replace(r.Context(), note)
}

func (a *api) list(w http.ResponseWriter, r *http.Request) (any, error) {
	options, err := httpapi.PageOptions(r)
	if err != nil {
		return nil, err
	}
	page, err := a.scope(r).Page(r.Context(), repository.All().OrderBy("title"), options)
	if err != nil {
		return nil, err
	}
	httpapi.LinkNext(w, r, page.Cursor)
	return page.Items, nil
}

// scope is the notes of the request's tenant.
func (a *api) scope(r *http.Request) *repository.Scope[Note] {
	tenant, _ := repository.TenantFrom(r.Context())
	return a.notes.In(tenant)
}

// tenantOf says whose request it is. In earnest that is what a verified token proves.
func tenantOf(r *http.Request) (string, error) {
	tokens := map[string]string{"Bearer acme-token": "acme", "Bearer globex-token": "globex"}
	return tokens[r.Header.Get("Authorization")], nil
}
