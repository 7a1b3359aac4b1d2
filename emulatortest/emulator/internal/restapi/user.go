package restapi

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// Users and permissions: /dbs/{db}/users[/{u}[/permissions[/{p}]]]
//
// Supported: every verb, also queries of the feeds. A permission comes with a resource token in _token, which is good for
// x-ms-documentdb-expiry-seconds, or an hour. 404/1003 without the database or user; 409 for an id, or a second permission for a resource.
// Differs from the service: permissions are for containers and items only.

// The bounds of a token's life.
const (
	defaultTokenLife = 3600
	maxTokenLife     = 24 * 3600
)

func (c *call) ref(name string) store.Ref { return store.Ref{Name: name, RID: c.byRID != nil} }

func (c *call) userRef() store.Ref { return c.ref(c.link.user) }

func (c *call) listUsers() (*result, *store.Error) {
	db, e := c.databaseOf()
	if e != nil {
		return nil, parentMissing(e)
	}
	return c.listed(db.Resource().RID, "Users", bodiesOf(db.Users()))
}

func (c *call) queryUsers() (*result, *store.Error) {
	db, e := c.databaseOf()
	if e != nil {
		return nil, parentMissing(e)
	}
	return c.queryResources(db.Resource().RID, "Users", db.Users())
}

// onUser runs a request about one user, or about one to come.
func (c *call) onUser(status int, run func(*store.Database) (store.Resource, error)) (*result, *store.Error) {
	db, e := c.databaseOf()
	if e != nil {
		return nil, parentMissing(e)
	}
	r, err := run(db)
	if err != nil {
		return nil, refused(err)
	}
	return described(status, r), nil
}

func (c *call) createUser() (*result, *store.Error) {
	return c.onUser(http.StatusCreated, func(db *store.Database) (store.Resource, error) { return db.CreateUser(c.body) })
}

func (c *call) readUser() (*result, *store.Error) {
	return c.onUser(http.StatusOK, func(db *store.Database) (store.Resource, error) { return db.User(c.userRef()) })
}

func (c *call) replaceUser() (*result, *store.Error) {
	return c.onUser(http.StatusOK, func(db *store.Database) (store.Resource, error) {
		return db.ReplaceUser(c.userRef(), c.body, c.precondition())
	})
}

func (c *call) deleteUser() (*result, *store.Error) {
	return c.onUser(http.StatusNoContent, func(db *store.Database) (store.Resource, error) {
		return store.Resource{}, db.DeleteUser(c.userRef(), c.precondition())
	})
}

func (c *call) listPermissions() (*result, *store.Error) {
	permissions, user, e := c.permissions()
	if e != nil {
		return nil, e
	}
	return c.listed(user.RID, "Permissions", bodiesOf(permissions))
}

func (c *call) queryPermissions() (*result, *store.Error) {
	permissions, user, e := c.permissions()
	if e != nil {
		return nil, e
	}
	return c.queryResources(user.RID, "Permissions", permissions)
}

// permissions gives the permissions of the link's user, each with a token.
func (c *call) permissions() ([]store.Resource, store.Resource, *store.Error) {
	db, e := c.databaseOf()
	if e != nil {
		return nil, store.Resource{}, parentMissing(e)
	}
	user, err := db.User(c.userRef())
	if err != nil {
		return nil, user, parentMissing(refused(err))
	}
	kept, err := db.Permissions(c.userRef())
	if err != nil {
		return nil, user, refused(err)
	}
	permissions := make([]store.Resource, len(kept))
	for i, p := range kept {
		if permissions[i], e = c.withToken(p); e != nil {
			return nil, user, e
		}
	}
	return permissions, user, nil
}

// onPermission runs a request about one permission; what it gives comes with a token.
func (c *call) onPermission(status int, run func(*store.Database) (store.Resource, error)) (*result, *store.Error) {
	if _, e := c.tokenLife(); e != nil {
		return nil, e
	}
	db, e := c.databaseOf()
	if e != nil {
		return nil, parentMissing(e)
	}
	if _, err := db.User(c.userRef()); err != nil {
		return nil, parentMissing(refused(err))
	}
	r, err := run(db)
	if err != nil {
		return nil, refused(err)
	}
	if status == http.StatusNoContent {
		return described(status, r), nil
	}
	if r, e = c.withToken(r); e != nil {
		return nil, e
	}
	return described(status, r), nil
}

func (c *call) createPermission() (*result, *store.Error) {
	if e := c.checkPermission(); e != nil {
		return nil, e
	}
	return c.onPermission(http.StatusCreated, func(db *store.Database) (store.Resource, error) { return db.CreatePermission(c.userRef(), c.body) })
}

func (c *call) readPermission() (*result, *store.Error) {
	return c.onPermission(http.StatusOK, func(db *store.Database) (store.Resource, error) {
		return db.Permission(c.userRef(), c.ref(c.link.permission))
	})
}

func (c *call) replacePermission() (*result, *store.Error) {
	if e := c.checkPermission(); e != nil {
		return nil, e
	}
	return c.onPermission(http.StatusOK, func(db *store.Database) (store.Resource, error) {
		return db.ReplacePermission(c.userRef(), c.ref(c.link.permission), c.body, c.precondition())
	})
}

func (c *call) deletePermission() (*result, *store.Error) {
	return c.onPermission(http.StatusNoContent, func(db *store.Database) (store.Resource, error) {
		return store.Resource{}, db.DeletePermission(c.userRef(), c.ref(c.link.permission), c.precondition())
	})
}

// permissionBody is what counts of a permission.
type permissionBody struct {
	Mode     string          `json:"permissionMode"`
	Resource string          `json:"resource"`
	Key      json.RawMessage `json:"resourcePartitionKey"`
}

// checkPermission refuses a permission for something else than a container or an item. What is not JSON is left to the store.
func (c *call) checkPermission() *store.Error {
	var body permissionBody
	if err := json.Unmarshal(c.body, &body); err != nil || body.Resource == "" {
		return nil //nolint:nilerr // as above
	}
	l, err := parseLink("/" + body.Resource)
	if err != nil || l.kind != kindContainer && l.kind != kindItem {
		return badRequest("The resource of a permission is the link of a container or an item in this emulator.")
	}
	if len(body.Key) > 0 && string(body.Key) != "null" {
		if _, err := parsePartitionKey(string(body.Key)); err != nil {
			return badRequest("The resourcePartitionKey of a permission is not a partition key: " + err.Error() + ".")
		}
	}
	return nil
}

// tokenLife is how long a token is to be good, in seconds.
func (c *call) tokenLife() (int, *store.Error) {
	life, e := intHeader(c.header, "x-ms-documentdb-expiry-seconds", 1)
	switch {
	case e != nil:
		return 0, e
	case life > maxTokenLife:
		return 0, badRequest("A resource token is good for a day at most: lower x-ms-documentdb-expiry-seconds.")
	case life == 0:
		return defaultTokenLife, nil
	}
	return life, nil
}

// withToken adds a fresh token to a permission.
func (c *call) withToken(p store.Resource) (store.Resource, *store.Error) {
	life, e := c.tokenLife()
	if e != nil {
		return p, e
	}
	var body permissionBody
	if err := json.Unmarshal(p.Body, &body); err != nil {
		return p, fail(http.StatusInternalServerError, 0, "A permission could not be read.")
	}
	token := c.h.auth.resourceToken(resourceToken{
		Resource: body.Resource, Mode: body.Mode, Key: string(body.Key),
		Expires: c.h.cfg.WallClock().Add(time.Duration(life) * time.Second).Unix(),
	})
	text := append([]byte(nil), p.Body[:len(p.Body)-1]...)
	text = append(text, `,"_token":`...)
	text = append(text, encodeJSON(token)...)
	text = append(text, '}')
	p.Body = text
	return p, nil
}
