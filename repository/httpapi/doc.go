// Package httpapi is what every HTTP service over Grove would write itself:
// errors to statuses, the tenant and the budget of a request, If-Match, and
// links from page to page. It is plain net/http: no router, and each part works
// without the others.
//
//	api := http.NewServeMux()
//	api.Handle("GET /notes/{id}", httpapi.JSON(http.StatusOK, func(w http.ResponseWriter, r *http.Request) (any, error) {
//		tenant, _ := repository.TenantFrom(r.Context())
//		return notes.In(tenant).Get(r.Context(), r.PathValue("id"))
//	}))
//	http.ListenAndServe(addr, httpapi.Middleware(httpapi.Config{Tenant: tenantOf, Budget: 100})(api))
//
// [Middleware] binds the request's context to its tenant and its budget, and
// writes the log and the trace. [JSON] answers with what a function returns,
// [WriteError] with an error, of which a [Problem] is one of your own. A [Config]
// is what Middleware goes by, a [Getter] what IfMatch reads from. [IfMatch],
// [PageOptions] and [LinkNext] read and write the headers that conditional
// writes and pages need. An entity's ETag is in the form that HTTP has for them,
// quotes included: it is the header ETag as it is.
//
// # Statuses
//
// [Status] decides by the first row that fits. The code is the member of that
// name in the answer; it tells apart what shares a status.
//
//	a *Problem                       its own                        its own
//	repository.ErrAmbiguous          504 Gateway Timeout            outcome-unknown
//	a stored document can't be read  500 Internal Server Error      internal
//	repository.ErrTenantMismatch     403 Forbidden                  tenant-mismatch
//	repository.ErrTooLarge           413 Content Too Large          too-large
//	*http.MaxBytesError              413 Content Too Large          too-large
//	repository.ErrInvalid            400 Bad Request                invalid
//	repository.ErrUnsupported        400 Bad Request                unsupported
//	repository.ErrPreconditionFailed 412 Precondition Failed        precondition-failed
//	repository.ErrHasChildren        409 Conflict                   has-children
//	repository.ErrReferenced         409 Conflict                   referenced
//	repository.ErrDanglingRef        409 Conflict                   dangling-reference
//	repository.ErrConflict           409 Conflict                   conflict
//	repository.ErrNotFound           404 Not Found                  not-found
//	repository.ErrEntityMismatch     404 Not Found                  not-found
//	repository.ErrBudget             422 Unprocessable Content      too-expensive
//	repository.ErrThrottled          429 Too Many Requests          throttled
//	context.Canceled                 499 (nginx's)                  canceled
//	context.DeadlineExceeded         504 Gateway Timeout            timeout
//	repository.IsRetryable           503 Service Unavailable        unavailable
//	anything else                    500 Internal Server Error      internal
//
// Some of them need a reason.
//
// ErrAmbiguous is 504 and not 503: a write was sent and may have taken effect.
// 503 with Retry-After would ask clients, and the proxies between, to repeat
// it; 504 says what happened, an answer that did not come, and carries no
// Retry-After. The client reads before it repeats.
//
// ErrBudget is 422 and not 429: the same request would use the same budget up
// again, now or later. It has to ask for less, and clients repeat 429 by
// themselves.
//
// What the service says about this application's own credential (401, 403) is
// 500: nothing that the client could change.
//
// 429 and 503 carry Retry-After in whole seconds: what the service asked for,
// and at least 1.
package httpapi
