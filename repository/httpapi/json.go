package httpapi

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/cosmosgrove/grove/tenantitem"
)

// JSON makes a handler of a function that returns what to answer with. Its
// error goes to [WriteError]; nil is an answer without a body; anything else is
// written as JSON under the status. An entity's ETag becomes the header of that
// name. The function may set other headers, and writes nothing itself.
func JSON(status int, serve func(w http.ResponseWriter, r *http.Request) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := serve(w, r)
		var text []byte
		if err == nil && body != nil {
			text, err = json.Marshal(body)
		}
		if err != nil {
			WriteError(w, r, err)
			return
		}
		if entity, ok := body.(interface{ ItemMeta() *tenantitem.Meta }); ok && entity.ItemMeta().ETag != "" {
			w.Header().Set("ETag", entity.ItemMeta().ETag)
		}
		if body != nil {
			w.Header().Set("Content-Type", "application/json")
		}
		w.WriteHeader(status)
		_, _ = w.Write(text) // a client that is gone can't be told
	})
}

// maxBody is the longest body that ReadJSON reads: a document's limit.
const maxBody = tenantitem.MaxDocumentBytes

// ReadJSON decodes the body of a request, 2 MB at most. Members that the value
// has no field for are passed over, so read into a struct of what a client may
// write, and not into an entity. What does not fit is a [*Problem] of status 400
// that quotes nothing, a longer body an *http.MaxBytesError.
func ReadJSON(w http.ResponseWriter, r *http.Request, into any) error {
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(into)
	var tooLarge *http.MaxBytesError
	var wrongType *json.UnmarshalTypeError
	switch {
	case err == nil, errors.As(err, &tooLarge):
		return err
	case errors.As(err, &wrongType) && wrongType.Field != "":
		return &Problem{Status: http.StatusBadRequest, Code: "invalid", Detail: "the body has a value of another type in " + wrongType.Field, Err: err}
	}
	return &Problem{Status: http.StatusBadRequest, Code: "invalid", Detail: "the body is not the JSON that belongs here", Err: err}
}
