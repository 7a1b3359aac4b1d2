package restapi

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// resourceKind names what a link points at. A feed and one of its entries are different kinds, because the service
// routes and signs them differently.
type resourceKind uint8

const (
	kindAccount resourceKind = iota
	kindDatabases
	kindDatabase
	kindContainers
	kindContainer
	kindItems
	kindItem
	kindRanges
	kindRange
	kindKeyDelete
	kindOffers
	kindOffer
	kindScripts
	kindScript
	kindConflicts
	kindConflict
	kindClientKeys
	kindClientKey
	kindUsers
	kindUser
	kindPermissions
	kindPermission
	kindUnsupported
)

// link is a request path taken apart: each segment decoded exactly once, so that an id may hold any character.
type link struct {
	kind      resourceKind
	segments  []string // decoded, without the empty ones at either end
	database  string   // name or rid
	container string   // name or rid
	item      string   // name or rid of an item, or the id of an offer
	resource  string   // name or rid of a script, a conflict or a client encryption key
	scripts   store.ScriptKind

	user, permission string // names or rids
}

// errBadPath says that a path can't be a Cosmos DB link at all.
var errBadPath = errors.New("the request path is not a resource link of the form dbs/{id}/colls/{id}/docs/{id}")

// maxSegment is the length of the longest name, in bytes: an item's id has at most 1,023, and the name of a database or container at most 255
// characters of up to four bytes each.
const maxSegment = 1023

// errLongName says that nothing can have such a name.
var errLongName = fmt.Errorf("a name in the request path is longer than %d bytes", maxSegment)

// maxPathSegments bounds what is looked at: no link of the protocol is longer than dbs/d/colls/c/docs/i/attachments/a.
const maxPathSegments = 8

// parseLink reads the escaped path of a request. A trailing slash is tolerated, since offers name themselves with one.
func parseLink(escaped string) (link, error) {
	trimmed := strings.Trim(escaped, "/")
	if trimmed == "" {
		return link{kind: kindAccount}, nil
	}
	parts := strings.SplitN(trimmed, "/", maxPathSegments+1)
	if len(parts) > maxPathSegments {
		return link{}, errBadPath
	}
	segments := make([]string, len(parts))
	for i, part := range parts {
		decoded, err := url.PathUnescape(part)
		if err != nil || decoded == "" {
			return link{}, errBadPath
		}
		if len(decoded) > maxSegment {
			return link{}, errLongName
		}
		segments[i] = decoded
	}
	l := link{segments: segments}
	switch strings.ToLower(segments[0]) {
	case "dbs":
		return l.underDatabases()
	case "offers":
		switch len(segments) {
		case 1:
			l.kind = kindOffers
		case 2:
			l.kind, l.item = kindOffer, segments[1]
		default:
			return link{}, errBadPath
		}
		return l, nil
	}
	return link{}, errBadPath
}

func (l link) underDatabases() (link, error) {
	s := l.segments
	switch len(s) {
	case 1:
		l.kind = kindDatabases
		return l, nil
	case 2:
		l.kind, l.database = kindDatabase, s[1]
		return l, nil
	}
	l.database = s[1]
	switch strings.ToLower(s[2]) {
	case "colls":
	case "clientencryptionkeys":
		return l.underClientKeys()
	case "users":
		return l.underUsers()
	default:
		return link{}, errBadPath
	}
	switch len(s) {
	case 3:
		l.kind = kindContainers
		return l, nil
	case 4:
		l.kind, l.container = kindContainer, s[3]
		return l, nil
	}
	l.container = s[3]
	return l.underContainer()
}

// underUsers reads what begins with dbs/d/users.
func (l link) underUsers() (link, error) {
	s := l.segments
	if len(s) > 6 || len(s) > 4 && !strings.EqualFold(s[4], "permissions") {
		return link{}, errBadPath
	}
	l.kind = [...]resourceKind{3: kindUsers, 4: kindUser, 5: kindPermissions, 6: kindPermission}[len(s)]
	if len(s) > 3 {
		l.user = s[3]
	}
	if len(s) > 5 {
		l.permission = s[5]
	}
	return l, nil
}

func (l link) underContainer() (link, error) {
	s := l.segments
	switch strings.ToLower(s[4]) {
	case "docs":
		switch len(s) {
		case 5:
			l.kind = kindItems
		case 6:
			l.kind, l.item = kindItem, s[5]
		default:
			l.kind = kindUnsupported // attachments
		}
	case "pkranges":
		switch len(s) {
		case 5:
			l.kind = kindRanges
		case 6:
			l.kind, l.item = kindRange, s[5]
		default:
			return link{}, errBadPath
		}
	case "operations":
		if len(s) != 6 || !strings.EqualFold(s[5], "partitionkeydelete") {
			return link{}, errBadPath
		}
		l.kind = kindKeyDelete
	case "sprocs":
		return l.underScripts(store.StoredProcedure)
	case "triggers":
		return l.underScripts(store.Trigger)
	case "udfs":
		return l.underScripts(store.UserDefinedFunction)
	case "conflicts":
		return l.entry(4, kindConflicts, kindConflict)
	default:
		return link{}, errBadPath
	}
	return l, nil
}

func (l link) underScripts(kind store.ScriptKind) (link, error) {
	l.scripts = kind
	return l.entry(4, kindScripts, kindScript)
}

func (l link) underClientKeys() (link, error) { return l.entry(2, kindClientKeys, kindClientKey) }

// entry tells a feed, whose name is at the given place, from one of its entries.
func (l link) entry(at int, feed, one resourceKind) (link, error) {
	switch len(l.segments) {
	case at + 1:
		l.kind = feed
	case at + 2:
		l.kind, l.resource = one, l.segments[at+1]
	default:
		return link{}, errBadPath
	}
	return l, nil
}

// signed gives what a client signs for this link: the resource type and the resource link. A feed signs its parent.
func (l link) signed() (resourceType, resourceLink string) {
	switch l.kind {
	case kindAccount:
		return "", ""
	case kindOffer:
		return "offers", strings.ToLower(l.item)
	case kindKeyDelete:
		if l.ridBased() {
			return "colls", l.signedRID()
		}
		return "colls", strings.Join(l.segments[:4], "/")
	}
	if l.ridBased() {
		typ, _ := l.signedNames()
		return typ, l.signedRID()
	}
	return l.signedNames()
}

func (l link) signedNames() (resourceType, resourceLink string) {
	n := len(l.segments)
	if n%2 == 0 {
		return strings.ToLower(l.segments[n-2]), strings.Join(l.segments, "/")
	}
	return strings.ToLower(l.segments[n-1]), strings.Join(l.segments[:n-1], "/")
}

// String prints the decoded link.
func (l link) String() string { return strings.Join(l.segments, "/") }

// altContentPath is the name-based link of the container, which clients use as the key of their session tokens.
func altContentPath(database, container string) string {
	return fmt.Sprintf("dbs/%s/colls/%s", database, container)
}
