package engine

import (
	"net/http"
	"testing"
)

func TestTheServicesTimeIsThatOfTheAnswer(t *testing.T) {
	t.Parallel()
	for date, want := range map[string]int64{
		"Wed, 02 Jan 2030 12:00:01 GMT": 1893585601,
		"":                              0,
		"yesterday":                     0,
	} {
		if got := serviceTime(http.Header{"Date": {date}}); got != want {
			t.Errorf("Date %q: %d, want %d", date, got, want)
		}
		rows := []Document{{}, {}}
		noteTime(rows, http.Header{"Date": {date}})
		if rows[0].ReadAt != want || rows[1].ReadAt != want {
			t.Errorf("Date %q: rows were read at %d and %d", date, rows[0].ReadAt, rows[1].ReadAt)
		}
	}
	if got := serviceTime(nil); got != 0 {
		t.Errorf("without an answer: %d", got)
	}
}
