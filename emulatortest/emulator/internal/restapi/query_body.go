package restapi

import (
	"encoding/json"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/query"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// queryBody is a query as clients send it, parsed.
type queryBody struct {
	text       string
	query      *sql.Query
	parameters map[string]value.Value
	resume     *query.ResumeFilter // nil when there is none
}

// parseQueryBody reads {"query": "...", "parameters": [{"name": "@p", "value": ...}], "resumeFilter": {...}}.
func (c *call) parseQueryBody() (*queryBody, *store.Error) {
	var wire struct {
		Query      *string `json:"query"`
		Parameters []struct {
			Name  string          `json:"name"`
			Value json.RawMessage `json:"value"`
		} `json:"parameters"`
		ResumeFilter json.RawMessage `json:"resumeFilter"`
	}
	if err := json.Unmarshal(c.body, &wire); err != nil || wire.Query == nil {
		return nil, badRequest(`The body of a query is not JSON of the form {"query":"...","parameters":[{"name":"@p","value":...}]}.`)
	}
	b := &queryBody{text: *wire.Query, parameters: make(map[string]value.Value, len(wire.Parameters))}
	for _, p := range wire.Parameters {
		if p.Value == nil { // left out: the parameter is undefined, as in the JavaScript SDK
			continue
		}
		v, err := value.Parse(p.Value)
		if err != nil {
			return nil, badRequest("The value of a query parameter is not JSON that the service takes.")
		}
		b.parameters[p.Name] = v
	}
	if wire.ResumeFilter != nil && string(wire.ResumeFilter) != "null" {
		filter, err := value.Parse(wire.ResumeFilter)
		if err != nil {
			return nil, badRequest("The resumeFilter is not JSON that the service takes.")
		}
		if b.resume, err = query.ParseResumeFilter(filter); err != nil {
			return nil, queryRefusal(err)
		}
	}
	parsed, err := sql.Parse(b.text)
	if err != nil {
		return nil, queryRefusal(err)
	}
	b.query = parsed
	return b, nil
}
