package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/httpapi"
	"github.com/cosmosgrove/grove/tenantitem"
)

// serviceAnswer is an answer of the service as the SDK returns it, with texts
// that no client may read.
func serviceAnswer(status int, header http.Header) error {
	return &azcore.ResponseError{StatusCode: status, ErrorCode: "SECRET", RawResponse: &http.Response{
		StatusCode: status, Header: header, Body: http.NoBody, Request: httptest.NewRequest(http.MethodGet, "https://SECRET.documents.azure.com/", nil),
	}}
}

func secret(cause error) error { return fmt.Errorf("SECRET: %w", cause) }

var statuses = []struct {
	name   string
	err    error
	status int
	code   string
	detail string
}{
	{"ambiguous", secret(repository.ErrAmbiguous), 504, "outcome-unknown", "may have taken effect"},
	{"ambiguous around the deadline", errors.Join(repository.ErrAmbiguous, context.DeadlineExceeded), 504, "outcome-unknown", "may have taken effect"},
	{"ambiguous around a refusal", errors.Join(repository.ErrAmbiguous, repository.ErrNotFound, serviceAnswer(503, nil)), 504, "outcome-unknown", "read before"},
	{"a document that does not fit", errors.Join(&repository.DecodeError{ID: "1", Err: secret(repository.ErrInvalid)}), 500, "internal", ""},
	{"tenant mismatch", &repository.Error{TenantID: "SECRET", ID: "1", Err: repository.ErrTenantMismatch}, 403, "tenant-mismatch", "another tenant"},
	{"too large, known before", errors.Join(repository.ErrInvalid, repository.ErrTooLarge), 413, "too-large", "too large"},
	{"a body that is too large", secret(&http.MaxBytesError{Limit: 1}), 413, "too-large", "too large"},
	{"invalid", &repository.Error{EntityType: "Note", ID: "a", Err: &tenantitem.InvalidError{What: "title", Reason: "it is empty", Hint: "fill it"}}, 400, "invalid", `Note "a": invalid title: it is empty (fill it)`},
	{"invalid by its sentinel alone", secret(repository.ErrInvalid), 400, "invalid", "invalid input"},
	{"unsupported", secret(repository.ErrUnsupported), 400, "unsupported", "can't be asked for"},
	{"precondition failed", secret(repository.ErrPreconditionFailed), 412, "precondition-failed", "changed since"},
	{"conflict with the current document", &repository.ConflictError[Note]{Current: &Note{Title: "SECRET"}, Err: repository.ErrPreconditionFailed}, 412, "precondition-failed", "changed since"},
	{"children", secret(&parented.ChildrenError{Counts: map[string]int64{"Comment": 2}}), 409, "has-children", "2 Comment"},
	{"children by the sentinel alone", secret(repository.ErrHasChildren), 409, "has-children", "has children"},
	{"referenced", secret(repository.ErrReferenced), 409, "referenced", "refer to it"},
	{"dangling", secret(&parented.DanglingError{Field: "ownerId", EntityType: "Person", ID: "7"}), 409, "dangling-reference", `ownerId names Person "7"`},
	{"dangling by the sentinel alone", secret(repository.ErrDanglingRef), 409, "dangling-reference", "dangling reference"},
	{"conflict", secret(repository.ErrConflict), 409, "conflict", "already exists"},
	{"not found", secret(repository.ErrNotFound), 404, "not-found", "not found"},
	{"some not found", secret(&repository.MissingError{IDs: []string{"7"}}), 404, "not-found", `the first is "7"`},
	{"another entity", secret(repository.ErrEntityMismatch), 404, "not-found", "not found"},
	{"budget", secret(repository.ErrBudget), 422, "too-expensive", "ask for less"},
	{"throttled", secret(repository.ErrThrottled), 429, "throttled", "later"},
	{"the client went away", secret(context.Canceled), 499, "canceled", ""},
	{"out of time", secret(context.DeadlineExceeded), 504, "timeout", ""},
	{"the service is away", serviceAnswer(503, nil), 503, "unavailable", ""},
	{"the service is slow", serviceAnswer(408, nil), 503, "unavailable", ""},
	{"the credential is wrong", serviceAnswer(401, nil), 500, "internal", ""},
	{"the role is missing", serviceAnswer(403, nil), 500, "internal", ""},
	{"an unknown error", errors.New("SECRET"), 500, "internal", ""},
	{"a problem", &httpapi.Problem{Status: 402, Code: "unpaid", Detail: "pay first", Err: errors.New("SECRET")}, 402, "unpaid", "pay first"},
	{"a problem around an error", &httpapi.Problem{Detail: "no such note", Err: secret(repository.ErrNotFound)}, 404, "", "no such note"},
	{"a problem with a status that is none", &httpapi.Problem{Status: 200, Detail: "?"}, 500, "", "?"},
	{"a problem from a function given to a verb", &repository.Error{Op: "Mutate", Err: &httpapi.Problem{Status: 409, Code: "sold-out"}}, 409, "sold-out", ""},
}

func TestStatus(t *testing.T) {
	t.Parallel()
	if got := httpapi.Status(nil); got != http.StatusOK {
		t.Errorf("no error: %d", got)
	}
	for _, tc := range statuses {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := httpapi.Status(tc.err); got != tc.status {
				t.Errorf("got %d, want %d", got, tc.status)
			}
			w := httptest.NewRecorder()
			w.Header().Set("ETag", `"1"`)
			httpapi.WriteError(w, httptest.NewRequest(http.MethodGet, "/", nil), tc.err)
			p := problemOf(t, w)
			if w.Code != tc.status || p.Status != tc.status || p.Code != tc.code || p.Title == "" {
				t.Errorf("got %d and %+v", w.Code, p)
			}
			if tc.detail == "" && p.Detail != "" || !strings.Contains(p.Detail, tc.detail) {
				t.Errorf("the detail is %q, want %q", p.Detail, tc.detail)
			}
			if strings.Contains(w.Body.String()+fmt.Sprint(w.Header()), "SECRET") {
				t.Errorf("it tells what it must not: %s", w.Body)
			}
			if (w.Header().Get("Retry-After") != "") != (tc.status == 429 || tc.status == 503) {
				t.Errorf("Retry-After %q with %d", w.Header().Get("Retry-After"), tc.status)
			}
			if w.Header().Get("ETag") != "" {
				t.Error("it has the ETag of another answer")
			}
		})
	}
}

// The tables of the package's documentation and of its page have every rule.
func TestDocumentedStatuses(t *testing.T) {
	t.Parallel()
	for file, row := range map[string]string{
		"doc.go":             `(?m)^//\t.* %d .* %s$`,
		"../../docs/http.md": `(?m)^\| %d \|[^|]*` + "`%s`" + `[^|]*\|`,
	} {
		text, err := os.ReadFile(file)
		check(t, err)
		for _, tc := range statuses {
			if tc.code == "" || strings.HasPrefix(tc.name, "a problem") {
				continue
			}
			if !regexp.MustCompile(fmt.Sprintf(row, tc.status, tc.code)).Match(text) {
				t.Errorf("%s has no row for %d, %s", file, tc.status, tc.code)
			}
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ milliseconds, want string }{
		{"", "1"}, {"0", "1"}, {"1", "1"}, {"1000", "1"}, {"1001", "2"}, {"4200.5", "5"}, {"1e300", "30"}, {"-5", "1"}, {"NaN", "1"}, {"soon", "1"},
	} {
		err := errors.Join(repository.ErrThrottled, serviceAnswer(429, http.Header{"X-Ms-Retry-After-Ms": {tc.milliseconds}}))
		w := httptest.NewRecorder()
		httpapi.WriteError(w, httptest.NewRequest(http.MethodGet, "/", nil), err)
		if got := w.Header().Get("Retry-After"); got != tc.want {
			t.Errorf("after %q ms: %q, want %q", tc.milliseconds, got, tc.want)
		}
	}
}

// The errors are those that the verbs return, over the wire.
func TestStatusOfVerbs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()
	acme := b.notes.In("acme")
	note := &Note{Title: "one"}
	check(t, acme.Create(ctx, note))
	check(t, b.comments.Under(note).Create(ctx, &Comment{Body: "SECRET"}))
	stale := *note
	check(t, acme.Replace(ctx, note))
	large := &Note{Title: strings.Repeat("x", tenantitem.MaxDocumentBytes)}
	_, notFound := acme.Get(ctx, "none")
	_, badID := acme.Get(ctx, "a/b")
	_, badCursor := acme.Page(ctx, repository.All(), repository.PageOptions{Cursor: "SECRET"})
	_, mismatch := acme.Get(repository.WithTenant(ctx, "globex"), note.ID)
	under, _ := repository.WithBudget(ctx, 1)
	for range 2 {
		_, _ = acme.Get(under, note.ID)
	}
	_, budget := acme.Get(under, note.ID)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, canceled := acme.Get(ended, note.ID)
	for _, tc := range []struct {
		name   string
		err    error
		status int
		detail string
	}{
		{"a missing document", notFound, 404, `Note "none": not found`},
		{"an id that is none", badID, 400, "invalid id"},
		{"another's cursor", badCursor, 400, "invalid cursor"},
		{"an id that is taken", acme.Create(ctx, &Note{TenantItem: tenantitem.TenantItem[Note]{Meta: tenantitem.Meta{ID: note.ID}}}), 409, "already exists"},
		{"a stale entity", acme.Replace(ctx, &stale), 412, "changed since"},
		{"a parent with children", acme.Delete(ctx, note.ID, nil), 409, "1 Comment"},
		{"a child of nothing", b.comments.UnderID("acme", "none").Create(ctx, &Comment{}), 409, "parentId"},
		{"another tenant", mismatch, 403, "another tenant"},
		{"more than 2 MB", acme.Create(ctx, large), 413, "too large"},
		{"a used up budget", budget, 422, "ask for less"},
		{"a context that ended", canceled, 499, ""},
	} {
		w := httptest.NewRecorder()
		httpapi.WriteError(w, httptest.NewRequest(http.MethodGet, "/", nil), tc.err)
		if p := problemOf(t, w); w.Code != tc.status || !strings.Contains(p.Detail, tc.detail) {
			t.Errorf("%s: got %d, %q for %v", tc.name, w.Code, p.Detail, tc.err)
		}
		if strings.Contains(w.Body.String(), "SECRET") || strings.Contains(w.Body.String(), "acme") {
			t.Errorf("%s: it tells what it must not: %s", tc.name, w.Body)
		}
	}
}

func TestStatusOfFailures(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		fault  emulator.Fault
		status int
		retry  string
	}{
		{"throttled past the deadline", emulator.Throttle(9 * time.Second), 429, "9"},
		{"the role was taken away", emulator.Answer(403, 0), 500, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // a deadline that no busy machine uses up
				b := setup(t)
				note := &Note{}
				check(t, b.notes.In("acme").Create(t.Context(), note))
				b.emulator.Fault(tc.fault)
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				_, err := b.notes.In("acme").Get(ctx, note.ID)
				w := httptest.NewRecorder()
				httpapi.WriteError(w, httptest.NewRequest(http.MethodGet, "/", nil), err)
				if w.Code != tc.status || w.Header().Get("Retry-After") != tc.retry {
					t.Errorf("got %d, Retry-After %q for %v", w.Code, w.Header().Get("Retry-After"), err)
				}
			})
		})
	}
}

type problem struct {
	Title, Code, Detail string
	Status              int
}

func problemOf(t *testing.T, w *httptest.ResponseRecorder) problem {
	t.Helper()
	if got := w.Header().Get("Content-Type"); got != "application/problem+json" {
		t.Fatalf("the answer is %s", got)
	}
	var p problem
	check(t, json.Unmarshal(w.Body.Bytes(), &p))
	return p
}
