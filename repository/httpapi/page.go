package httpapi

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/cosmosgrove/grove/repository"
)

// PageOptions reads the page that a request asks for from its query: cursor,
// as [LinkNext] wrote it, and size. A size that is no number is a [*Problem] of
// status 400; what is wrong with either beyond that, Page finds out.
func PageOptions(r *http.Request) (repository.PageOptions, error) {
	query := r.URL.Query()
	options := repository.PageOptions{Cursor: query.Get("cursor")}
	if text := query.Get("size"); text != "" {
		size, err := strconv.Atoi(text)
		if err != nil || size < 1 {
			return repository.PageOptions{}, &Problem{Status: http.StatusBadRequest, Code: "invalid", Detail: "size has to be a number from 1 on"}
		}
		options.Size = size
	}
	return options, nil
}

// LinkNext adds the header Link (RFC 8288) with the relation next, to the
// address of the request with another cursor. The other members of the query
// stay. An empty cursor, the end, adds nothing. The link is relative, query
// alone, so that it holds behind a proxy that changes hosts or paths.
func LinkNext(w http.ResponseWriter, r *http.Request, cursor string) {
	if cursor == "" {
		return
	}
	query := url.Values{}
	for name, values := range r.URL.Query() {
		query[name] = values
	}
	query.Set("cursor", cursor)
	w.Header().Add("Link", "<?"+query.Encode()+`>; rel="next"`)
}
