package script

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/dop251/goja"
)

// Error is why a run failed, as the client gets it.
type Error struct {
	// Status is the HTTP status: 400 for what the script did, 408 when its time was over.
	Status int
	// Substatus is the number of the Error that the script threw; zero when it had none.
	Substatus int
	// Message is the text of the answer.
	Message string
}

// Error returns the status and the message.
func (e *Error) Error() string { return fmt.Sprintf("%d/%d: %s", e.Status, e.Substatus, e.Message) }

// errorList is the form in which the service words what a script did.
type errorList struct {
	Errors []string `json:"Errors"` //nolint:tagliatelle // as the service writes it
}

func listed(text string) string {
	b, err := json.Marshal(errorList{Errors: []string{text}})
	if err != nil { // a list of strings
		return text
	}
	return string(b)
}

func failure(status int, format string, args ...any) *Error {
	return &Error{Status: status, Message: listed(fmt.Sprintf(format, args...))}
}

// compileError words a script that is no JavaScript.
func compileError(err error) *Error {
	return failure(http.StatusBadRequest, "Encountered exception while compiling Javascript. Exception = %s", strings.TrimSpace(err.Error()))
}

// thrown words what a script threw and did not catch. An Error made with a number gives the answer's substatus.
func thrown(v goja.Value, text string) *Error {
	e := failure(http.StatusBadRequest, "Encountered exception while executing Javascript. Exception = %s", text)
	if o, ok := v.(*goja.Object); ok {
		if n, ok := exported(o.Get("number")).(int64); ok && n > 0 && n < 1<<16 {
			e.Substatus = int(n)
		}
	}
	return e
}

func exported(v goja.Value) any {
	if v == nil {
		return nil
	}
	return v.Export()
}
