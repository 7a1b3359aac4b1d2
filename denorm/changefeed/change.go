package changefeed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf8"

	"github.com/cosmosgrove/grove/internal/codec"
)

// Change is a document as it is after a change. The feed shows the latest
// version only: changes that followed each other quickly may come as one, and
// deletes do not come at all.
type Change struct {
	// Document is the whole document as JSON, system fields included.
	Document json.RawMessage
	// ID and ETag are the document's.
	ID, ETag string
	// LSN is the position of the change in its physical partition. It grows
	// within a range, and a batch's documents share one. It is 0 in a replay of
	// the document as it is now.
	LSN int64
	// Timestamp is the time of the change in Unix seconds.
	Timestamp int64
	// Session is the session token of the answer that brought the change, as
	// the service gave it: a read of this container with it sees the change.
	Session string
	// Range is the lease's range of effective partition keys, "min-max", and
	// Epoch counts the owners that the lease has had; see "Owners that do not
	// know that they are none" in the package's documentation. Both are empty
	// in a replay from quarantine.
	Range string
	Epoch int64

	rid      string         // the document's resource id
	position *watchPosition // of a watch
}

// Position is where a [Watch] goes on behind this change, to be stored by the
// caller: opaque text, safe in a URL, of about 100 bytes for each physical
// partition. Inside of a page of changes it is the page's beginning, so some
// changes may come again and none is skipped. It is empty for changes that did
// not come from a watch. It names no document.
func (c Change) Position() string {
	if c.position == nil {
		return ""
	}
	return c.position.String()
}

// Decode fills v from the document, by the rules of encoding/json.
func (c Change) Decode(v any) error {
	if err := json.Unmarshal(c.Document, v); err != nil {
		return errors.New("changefeed: the document does not fit the type") // the cause would quote it
	}
	return nil
}

// Handler takes changes of one range, in the order in which each logical
// partition changed. It may be called again with changes that it has handled:
// after a failure, a crash, or a range's move to another instance. Different
// ranges are handled at the same time.
//
// When it returns an error that may pass, which those of the database and of
// the network are, and those marked by [Transient], the same changes come again
// after growing pauses, for as long as it takes. After any other error they
// come one by one, and one that keeps failing is quarantined, so that the
// others go on. A panic counts as such an error. So does a URL or an address that is
// none, and an io.ErrUnexpectedEOF which does not come from the database or from an
// http.Client's request: a text in the document may be cut as well as a body, so a
// handler that reads bodies of its own marks such errors with [Transient]. The
// context ends when the range is lost or the processor's own context ends; a
// handler that goes on regardless holds up the processor's end.
type Handler func(ctx context.Context, changes []Change) error

// parseChange reads what the service says of a document. Members are told by their
// exact names, and what does not fit stays zero: a document may hold anything, "ID"
// beside "id" too, and must not stop its range.
func parseChange(raw json.RawMessage) Change {
	c := Change{Document: raw}
	codec.Members(raw, func(name string, value []byte) {
		switch name {
		case "id":
			c.ID = textOf(value)
		case "_etag":
			c.ETag = textOf(value)
		case "_rid":
			c.rid = textOf(value)
		case "_lsn":
			c.LSN = integerOf(value)
		case "_ts":
			c.Timestamp = integerOf(value)
		}
	})
	return c
}

// textOf is the text of a JSON string; "" for anything else.
func textOf(value []byte) (text string) {
	if len(value) > 1 && value[0] == '"' && bytes.IndexByte(value, '\\') < 0 && utf8.Valid(value) {
		return string(value[1 : len(value)-1]) // as most are
	}
	_ = json.Unmarshal(value, &text) // what does not fit stays empty
	return text
}

// integerOf is a JSON integer; 0 for anything else.
func integerOf(value []byte) int64 {
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
