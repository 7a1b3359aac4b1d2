package restapi

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// A link is made of names or of rids, and its database segment alone decides: what decodes as the rid of a database is one. In a link of rids
// every segment has to be one.

// The number of bytes in a rid: its first ones are those of the resource that holds it.
const (
	databaseRIDBytes  = 4
	containerRIDBytes = 8
	childRIDBytes     = 16
)

// ridBased reports whether the link is made of rids.
func (l link) ridBased() bool {
	return l.database != "" && store.RIDLength(l.database) == databaseRIDBytes
}

// checkRIDs refuses a name below a rid.
func (l link) checkRIDs() *store.Error {
	if !l.ridBased() {
		return nil
	}
	segments := l.segments
	if l.kind == kindKeyDelete {
		segments = segments[:4] // what follows is the name of an operation
	}
	length := [...]int{1: databaseRIDBytes, 3: containerRIDBytes, 5: childRIDBytes}
	for i := 1; i < len(segments); i += 2 {
		if i >= len(length) || store.RIDLength(segments[i]) != length[i] {
			return badRequest(fmt.Sprintf("Failed to parse the value '%s' as ResourceId.", segments[i]))
		}
	}
	return nil
}

// signedRID is what a client signs of a link of rids: the rid of the signed resource alone, in lower case.
func (l link) signedRID() string {
	switch n := len(l.segments); {
	case l.kind == kindKeyDelete:
		return strings.ToLower(l.segments[3])
	case n%2 == 0:
		return strings.ToLower(l.segments[n-1])
	default:
		return strings.ToLower(l.segments[n-2])
	}
}

// place is what a link of rids leads to, as far as it is there.
type place struct {
	database  *store.Database
	container *store.Container
}

// resolve finds what the rids in the link stand for, and puts the names in their place, by which faults, the log and the verbs know
// resources. What is not there keeps its rid, and is not found. A rid below a name is nothing that can be signed.
func (c *call) resolve() *store.Error {
	l, account := &c.link, c.h.cfg.Account
	if !l.ridBased() {
		return c.refuseRIDs()
	}
	c.byRID = &place{database: account.DatabaseByRID(l.database)}
	if c.byRID.database == nil {
		return nil
	}
	l.database = c.byRID.database.Resource().ID
	if l.container == "" {
		return nil
	}
	c.byRID.container = c.byRID.database.ContainerByRID(l.container)
	if c.byRID.container == nil {
		return nil
	}
	l.container = c.byRID.container.Resource().ID
	if l.item != "" {
		l.item = c.byRID.container.ItemID(l.item) // empty, which no item has for an id, when there is none
	}
	return nil
}

// refuseRIDs looks for the rid of a container or item below the name of its parent.
func (c *call) refuseRIDs() *store.Error {
	l := &c.link
	if store.RIDLength(l.container) != containerRIDBytes && store.RIDLength(l.item) != childRIDBytes {
		return nil
	}
	db, err := c.h.cfg.Account.Database(l.database)
	if err != nil {
		return nil //nolint:nilerr // the verb says so
	}
	container, err := db.Container(l.container)
	mixed := err != nil && db.ContainerByRID(l.container) != nil
	if err == nil && l.item != "" {
		mixed = container.ItemID(l.item) != ""
	}
	if mixed {
		return fail(http.StatusUnauthorized, 0, "The input authorization token can't serve the request: the link has a rid below a name. "+
			"Make it of names or of rids.")
	}
	return nil
}
