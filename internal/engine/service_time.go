package engine

import "net/http"

// serviceTime is the service's time at an answer, in Unix seconds; 0 where the answer
// does not say. Every answer has a Date header, says
// https://learn.microsoft.com/rest/api/cosmos-db/common-cosmosdb-rest-response-headers.
func serviceTime(h http.Header) int64 {
	at, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0
	}
	return at.Unix()
}

// noteTime tells documents when they were read.
func noteTime[R any](rows []R, h http.Header) {
	documents, ok := any(rows).([]Document)
	if !ok || len(documents) == 0 {
		return
	}
	at := serviceTime(h)
	for i := range documents {
		documents[i].ReadAt = at
	}
}
