package store

import (
	"strconv"
	"strings"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// Resource is a database, container, offer or partition key range as the service describes it.
type Resource struct {
	// ID is the name; for offers and ranges the id field.
	ID string
	// RID is _rid, Self _self, ETag _etag with its quotes, TS _ts in Unix seconds.
	RID, Self, ETag string
	TS              int64
	// Body is the whole resource as JSON. It must not be changed.
	Body []byte
}

// maxNameLength is the longest name of a database or container, in characters.
const maxNameLength = 255

// parseResource reads a request's body and checks the name in it.
func parseResource(body []byte) (*node, value.Value, string, error) {
	n, v, err := parseNode(body)
	if err != nil {
		return nil, v, "", badRequest("The request body is not a resource: %v.", err)
	}
	if v.Kind() != value.Object {
		return nil, v, "", badRequest("%s", textInvalidInput)
	}
	id, ok := v.Get("id").Str()
	if !ok || id == "" {
		return nil, v, "", badRequest("%s", textMissingID)
	}
	if len([]rune(id)) > maxNameLength || strings.ContainsAny(id, `/\#?`) || strings.HasSuffix(id, " ") {
		return nil, v, "", badRequest("The resource name is invalid: it may not be longer than %d characters, hold any of / \\ # ? or end with a space.", maxNameLength)
	}
	return n, v, id, nil
}

// describe writes the system properties into a resource's tree, in the service's order, and renders it.
func describe(n *node, id, rid, self string, version uint64, now time.Time, links ...string) Resource {
	r := Resource{ID: id, RID: rid, Self: self, TS: now.Unix()}
	r.ETag = makeETag(version, r.TS)
	n.set("_rid", stringNode(r.RID))
	n.set("_self", stringNode(r.Self))
	n.set("_etag", stringNode(r.ETag))
	for _, link := range links {
		n.set("_"+link, stringNode(link+"/"))
	}
	n.set("_ts", leaf(strconv.FormatInt(r.TS, 10)))
	r.Body = n.appendTo(nil)
	return r
}

// resourceOf reads a stored resource back.
func resourceOf(body []byte) (Resource, value.Value, error) {
	v, err := value.Parse(body)
	if err != nil {
		return Resource{}, v, err
	}
	return describedBy(body, v), v, nil
}

// describedBy reads the system properties out of a parsed body.
func describedBy(body []byte, v value.Value) Resource {
	r := Resource{Body: body}
	r.ID, _ = v.Get("id").Str()
	r.RID, _ = v.Get("_rid").Str()
	r.Self, _ = v.Get("_self").Str()
	r.ETag, _ = v.Get("_etag").Str()
	ts, _ := v.Get("_ts").Number()
	r.TS = int64(ts)
	return r
}
