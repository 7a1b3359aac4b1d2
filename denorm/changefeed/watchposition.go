package changefeed

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/cosmosgrove/grove/tenantitem"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// watchPosition is how far a watch has come in every range. It does not change.
type watchPosition struct {
	Container string          `json:"container"`
	StartFrom *time.Time      `json:"startFrom,omitempty"`
	Ranges    []startPosition `json:"ranges"`
}

// watchPositionPrefix is the version of the text.
const watchPositionPrefix = "w1."

func (w *watchPosition) String() string {
	body, _ := json.Marshal(w) //nolint:errchkjson // texts and a time, which always encode
	return watchPositionPrefix + base64.RawURLEncoding.EncodeToString(body)
}

// maxWatchPosition bounds a text that comes from outside.
const maxWatchPosition = 1 << 20

// parseWatchPosition reads a position of a container.
func parseWatchPosition(text, container string) (*watchPosition, error) {
	refuse := func(reason string) error {
		return &tenantitem.InvalidError{What: "changefeed.WatchOptions.Position", Reason: reason, Hint: "pass what Change.Position returned for this container, or nothing"}
	}
	coded, ok := strings.CutPrefix(text, watchPositionPrefix)
	if !ok || len(text) > maxWatchPosition {
		return nil, refuse("it is not one of ours")
	}
	raw, err := base64.RawURLEncoding.DecodeString(coded)
	var w watchPosition
	if err != nil || json.Unmarshal(raw, &w) != nil {
		return nil, refuse("it is not one of ours")
	}
	if w.Container != container {
		return nil, refuse("it is of another container, or of one that was deleted and made anew")
	}
	slices.SortFunc(w.Ranges, func(a, b startPosition) int { return epk.Compare(a.Min, b.Min) })
	reached := epk.Min
	for _, r := range w.Ranges {
		if epk.Compare(r.Min, reached) != 0 || r.isEmpty() || strings.Trim(r.Min+r.Max, "0123456789ABCDEF") != "" {
			return nil, refuse("its ranges are not those of a container")
		}
		if !isHeaderText(r.Continuation) {
			return nil, refuse("a continuation in it is none of the service's")
		}
		reached = r.Max
	}
	if epk.Compare(reached, epk.Max) != 0 {
		return nil, refuse("its ranges are not those of a container")
	}
	return &w, nil
}
