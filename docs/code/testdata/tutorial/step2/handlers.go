package notes

import (
	"encoding/json"
	"net/http"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/httpapi"
)

// NewHandler serves the notes of all tenants.
func NewHandler(notes *repository.Repository[Note]) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /notes", httpapi.Handler(func(w http.ResponseWriter, r *http.Request) error {
		note := &Note{}
		if err := read(w, r, &note.Title); err != nil {
			return err
		}
		if err := scope(notes, r).Create(r.Context(), note); err != nil {
			return err
		}
		return write(w, http.StatusCreated, note.ETag, note)
	}))
	mux.Handle("GET /notes/{id}", httpapi.Handler(func(w http.ResponseWriter, r *http.Request) error {
		note, err := scope(notes, r).Get(r.Context(), r.PathValue("id"))
		if err != nil {
			return err
		}
		return write(w, http.StatusOK, note.ETag, note)
	}))
	mux.Handle("PUT /notes/{id}", httpapi.Handler(func(w http.ResponseWriter, r *http.Request) error {
		id, acme := r.PathValue("id"), scope(notes, r)
		etag, err := httpapi.IfMatch(r, acme, id)
		if err != nil {
			return err
		}
		note, err := acme.Get(r.Context(), id)
		if err != nil {
			return err
		}
		if err := read(w, r, &note.Title); err != nil {
			return err
		}
		note.ETag = etag // the version that the client has read
		if err := acme.Replace(r.Context(), note); err != nil {
			return err
		}
		return write(w, http.StatusOK, note.ETag, note)
	}))
	mux.Handle("GET /notes", httpapi.Handler(func(w http.ResponseWriter, r *http.Request) error {
		options, err := httpapi.PageOptions(r)
		if err != nil {
			return err
		}
		page, err := scope(notes, r).Page(r.Context(), repository.All().OrderBy("title"), options)
		if err != nil {
			return err
		}
		httpapi.LinkNext(w, r, page.Cursor)
		return write(w, http.StatusOK, "", page.Items)
	}))
	return httpapi.Middleware(httpapi.Config{Tenant: tenantOf, Budget: 200, RequireIfMatch: true})(mux)
}

// tenantOf says whose request it is. In earnest that is what a verified token proves.
func tenantOf(r *http.Request) (string, error) {
	tokens := map[string]string{"Bearer acme-token": "acme", "Bearer globex-token": "globex"}
	return tokens[r.Header.Get("Authorization")], nil
}

func scope(notes *repository.Repository[Note], r *http.Request) *repository.Scope[Note] {
	tenant, _ := repository.TenantFrom(r.Context())
	return notes.In(tenant)
}

// read decodes a note's title, which is all that a client may write.
func read(w http.ResponseWriter, r *http.Request, title *string) error {
	var input struct {
		Title string `json:"title"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16)).Decode(&input); err != nil {
		return &httpapi.Problem{Status: http.StatusBadRequest, Detail: "send a title", Err: err}
	}
	*title = input.Title
	return nil
}

func write(w http.ResponseWriter, status int, etag string, body any) error {
	w.Header().Set("Content-Type", "application/json")
	if etag != "" {
		w.Header().Set("ETag", etag)
	}
	w.WriteHeader(status)
	return json.NewEncoder(w).Encode(body)
}
