package restapi

import (
	"errors"
	"net/http"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/eval"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/script"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// compileCondition turns the SQL of a patch's condition, which is the FROM and WHERE of a query, into a function over documents.
func (c *call) compileCondition(patch *store.Patch) *store.Error {
	if patch.ConditionSQL == "" {
		return nil
	}
	query, err := sql.Parse("SELECT * " + patch.ConditionSQL)
	if err != nil {
		return queryRefusal(err)
	}
	if query.From == nil || query.Where == nil || len(query.GroupBy)+len(query.OrderBy) > 0 || query.Rank != nil || query.Limit != nil {
		return badRequest(`The condition of a patch has the form "from c where {predicate}".`)
	}
	program, err := eval.Compile(query)
	if err != nil {
		return queryRefusal(err)
	}
	patch.Condition = func(document value.Value) (bool, error) {
		met := false
		err := program.NewRun(c.ctx, eval.Env{Now: c.h.cfg.Clock}).Item(document, func(eval.Row) bool {
			met = true
			return false
		})
		if err != nil {
			return false, queryRefusal(err)
		}
		return met, nil
	}
	return nil
}

// syntaxReport is how the service lists what is wrong with a query's text.
type syntaxReport struct {
	Errors []syntaxFault `json:"errors"`
}

type syntaxFault struct {
	Severity string         `json:"severity"`
	Location syntaxLocation `json:"location"`
	Code     string         `json:"code"`
	Message  string         `json:"message"`
}

type syntaxLocation struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// retryExhausted is how long a client is told to wait for memory that other queries hold.
const retryExhausted = time.Second

// queryRefusal turns an error of the query language, of the evaluator or of the paging into an answer.
func queryRefusal(err error) *store.Error {
	var syntax *sql.SyntaxError
	if errors.As(err, &syntax) {
		return badRequest("Message: " + string(encodeJSON(syntaxReport{Errors: []syntaxFault{{
			Severity: "Error",
			Location: syntaxLocation{syntax.Start, syntax.End},
			Code:     syntax.Code,
			Message:  syntax.Message,
		}}})))
	}
	var evaluation *eval.Error
	switch {
	case errors.As(err, &evaluation) && evaluation.Exhausted:
		e := fail(http.StatusTooManyRequests, 0, evaluation.Message)
		e.RetryAfter = retryExhausted
		return e
	case evaluation != nil:
		return badRequest(evaluation.Message)
	}
	var function *script.Error
	if errors.As(err, &function) {
		return scriptRefusal(function)
	}
	var refusal *store.Error
	if errors.As(err, &refusal) {
		return refusal
	}
	// What is left is a context that ended while the query ran.
	return fail(http.StatusRequestTimeout, 0, "The query was given up: "+err.Error()+".")
}
