package httpapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Problem is an error of the application's own with the answer that it stands
// for. Return it from a function of [JSON], from Config.Tenant or from the function
// given to Mutate. All but Err is sent to the client.
type Problem struct { //nolint:errname // the word of RFC 9457
	// Status is the HTTP status. Defaults to that of Err; without Err to 500.
	Status int
	// Code tells problems of one status apart, such as "out-of-stock". It may
	// be empty.
	Code string
	// Detail is a sentence for the client. It may be empty.
	Detail string
	// Err is the cause; it is logged and not sent. It may be nil.
	Err error
}

// Error returns the detail and the cause.
func (p *Problem) Error() string {
	text := cmp.Or(p.Detail, http.StatusText(p.status()), "problem")
	if p.Err != nil {
		text += ": " + p.Err.Error()
	}
	return text
}

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Err }

func (p *Problem) status() int {
	switch {
	case p.Status >= 400 && p.Status <= 599:
		return p.Status
	case p.Err != nil:
		return Status(p.Err)
	}
	return http.StatusInternalServerError
}

// WriteError answers a request with an error, as application/problem+json
// (RFC 9457) with the members title, status, code and detail. The detail is
// made of Grove's own words: the entity type, the id and what was wrong with
// them. It never holds a document, a tenant, a key, a text of the SDK or of an
// unknown error; those are for the log, which [Middleware] writes. Answers from
// 500 on have no detail, except that of an outcome that is not known.
//
// 429 and 503 get the header Retry-After, 401 gets WWW-Authenticate unless it
// is set. Nothing is written for a nil error, or, under [Middleware], when an answer
// was begun.
func WriteError(w http.ResponseWriter, r *http.Request, err error) {
	if err == nil || note(r, err) {
		return
	}
	m := meaningOf(err)
	header := w.Header()
	header.Del("ETag") // of what would have been the answer
	header.Del("Content-Length")
	header.Set("Content-Type", "application/problem+json")
	header.Set("Cache-Control", "no-store")
	switch m.status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		header.Set("Retry-After", retryAfter(err))
	case http.StatusUnauthorized:
		if header.Get("WWW-Authenticate") == "" {
			header.Set("WWW-Authenticate", "Bearer")
		}
	}
	w.WriteHeader(m.status)
	//nolint:errchkjson // a client that is gone can't be told
	_ = json.NewEncoder(w).Encode(answer{
		Title: cmp.Or(http.StatusText(m.status), "Client Closed Request"), Status: m.status, Code: m.code, Detail: detail(err, m),
	})
}

// answer is the body. Its type is about:blank, which need not be written.
type answer struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	Code   string `json:"code,omitempty"`
	Detail string `json:"detail,omitempty"`
}

// detail is what a client may read.
func detail(err error, m meaning) string {
	var problem *Problem
	switch {
	case errors.As(err, &problem):
		return problem.Detail
	case m.code == "outcome-unknown":
		return "the write was sent and may have taken effect: read before repeating it"
	case m.status >= 499:
		return ""
	case m.code == "tenant-mismatch":
		return "this belongs to another tenant"
	}
	about := ""
	var verb *repository.Error
	if errors.As(err, &verb) && verb.ID != "" {
		about = fmt.Sprintf("%s %q: ", verb.EntityType, verb.ID)
	}
	return about + reason(err, m)
}

// reason says what was wrong, in words that Grove has chosen itself.
func reason(err error, m meaning) string {
	var (
		invalid  *tenantitem.InvalidError
		missing  *repository.MissingError
		children *parented.ChildrenError
		dangling *parented.DanglingError
	)
	switch m.code {
	case "invalid":
		if errors.As(err, &invalid) {
			return invalid.Error()
		}
		return repository.ErrInvalid.Error()
	case "unsupported":
		return "this can't be asked for here"
	case "too-large":
		return "the request, or the document that it makes, is too large"
	case "precondition-failed":
		return "it changed since it was read, or a condition does not hold: read it again"
	case "conflict":
		return repository.ErrConflict.Error()
	case "has-children":
		if errors.As(err, &children) {
			return children.Error()
		}
		return repository.ErrHasChildren.Error()
	case "dangling-reference":
		if errors.As(err, &dangling) {
			return dangling.Error()
		}
		return repository.ErrDanglingRef.Error()
	case "referenced":
		return "other documents refer to it"
	case "not-found":
		if errors.As(err, &missing) {
			return missing.Error()
		}
		return repository.ErrNotFound.Error()
	case "too-expensive":
		return "this costs more than one request may: ask for less"
	case "throttled":
		return "try again later"
	}
	return ""
}
