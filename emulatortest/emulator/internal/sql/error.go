package sql

import "fmt"

// Codes of [SyntaxError], as the service has them.
const (
	CodeSyntax          = "SC1001"
	CodeUnexpectedEnd   = "SC1002"
	CodeUnresolved      = "SC2001"
	CodeUnknownFunction = "SC2005"
	CodeStarWithGroupBy = "SC2041"
	CodeArity           = "SC2050"
	CodeTopCount        = "SC2060"
	CodeLimitCount      = "SC2061"
	CodeOffsetCount     = "SC2062"
	CodeNestedAggregate = "SC2101"
	CodeNotGrouped      = "SC2102"
	CodeSubqueryOrderBy = "SC2202"
	CodeSubqueryTop     = "SC2203"
	CodeSubqueryOffset  = "SC2204"
	CodeOrderByNotAPath = "SC2206"
)

// CodeOther is the code of checks that the service makes too, but whose code isn't published.
const CodeOther = "SC2000"

// SyntaxError is a query that the language doesn't allow. Start and End are positions in the query's text, counted in
// UTF-16 units as the service counts them, End excluded.
type SyntaxError struct {
	Code       string // such as SC1001
	Start, End int
	Message    string
}

// Error returns the code, the place and the message. It quotes at most one word of the query.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s at %d: %s", e.Code, e.Start, e.Message)
}
