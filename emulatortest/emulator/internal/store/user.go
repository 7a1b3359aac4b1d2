package store

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// user is a user of a database with its permissions. It never changes: a change replaces it.
type user struct {
	ordinal     uint64
	resource    Resource
	permissions []Resource
}

// userRecord is how the journal keeps a user.
type userRecord struct {
	Body        json.RawMessage   `json:"body"`
	Permissions []json.RawMessage `json:"permissions,omitempty"`
}

// Ref names a user or a permission: by its rid in a link of rids, else by its id.
type Ref struct {
	Name string
	RID  bool
}

func (r Ref) is(resource Resource) bool {
	if r.RID {
		return resource.RID == r.Name
	}
	return resource.ID == r.Name
}

func indexOf(resources []Resource, ref Ref) int { return slices.IndexFunc(resources, ref.is) }

func (d *Database) userIndex(ref Ref) int {
	return slices.IndexFunc(d.users, func(u user) bool { return ref.is(u.resource) })
}

// Users lists the users in the order of their creation.
func (d *Database) Users() []Resource {
	d.mu.RLock()
	defer d.mu.RUnlock()
	list := make([]Resource, len(d.users))
	for i, u := range d.users {
		list[i] = u.resource
	}
	return list
}

// User describes a user (404).
func (d *Database) User(ref Ref) (Resource, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if i := d.userIndex(ref); i >= 0 {
		return d.users[i].resource, nil
	}
	return Resource{}, notFound()
}

// CreateUser adds a user (400, 404/1003, 409).
func (d *Database) CreateUser(body []byte) (Resource, error) {
	tree, _, id, err := parseResource(body)
	if err != nil {
		return Resource{}, err
	}
	return d.changeUsers(func(serial uint32) (Resource, *user, error) {
		if d.deleted {
			return Resource{}, nil, parentNotFound()
		}
		if d.userIndex(Ref{Name: id}) >= 0 {
			return Resource{}, nil, refuse(http.StatusConflict, 0, textConflict)
		}
		u := user{ordinal: uint64(serial), resource: d.describeUser(tree, id, userRID(d.resource.RID, serial), serial)}
		d.users = append(slices.Clip(d.users), u)
		return u.resource, &u, nil
	})
}

// ReplaceUser renames a user (400, 404, 409, 412).
func (d *Database) ReplaceUser(ref Ref, body []byte, p Precondition) (Resource, error) {
	tree, _, id, err := parseResource(body)
	if err != nil {
		return Resource{}, err
	}
	return d.changeUser(ref, p, func(u *user, serial uint32) error {
		if id != u.resource.ID && d.userIndex(Ref{Name: id}) >= 0 {
			return refuse(http.StatusConflict, 0, textConflict)
		}
		u.resource = d.describeUser(tree, id, u.resource.RID, serial)
		return nil
	})
}

func (d *Database) describeUser(tree *node, id, rid string, version uint32) Resource {
	return describe(tree, id, rid, d.resource.Self+"users/"+rid+"/", uint64(version), d.account.now(), "permissions")
}

// DeleteUser removes a user with its permissions (404, 412).
func (d *Database) DeleteUser(ref Ref, p Precondition) error {
	a := d.account
	a.mu.Lock()
	d.mu.Lock()
	i := d.userIndex(ref)
	var err error
	wait := nothingToWrite
	if i < 0 {
		err = notFound()
	} else if err = p.check(d.users[i].resource.ETag); err == nil {
		wait = a.record(Mutation{Key: orderedKey(keyUser, d.resource.RID, d.users[i].ordinal)})
		d.users = slices.Delete(slices.Clone(d.users), i, i+1)
	}
	d.mu.Unlock()
	a.mu.Unlock()
	if err != nil {
		return err
	}
	return await(wait)
}

// changeUser replaces a user by what change makes of a copy.
func (d *Database) changeUser(ref Ref, p Precondition, change func(u *user, serial uint32) error) (Resource, error) {
	return d.changeUsers(func(serial uint32) (Resource, *user, error) {
		i := d.userIndex(ref)
		if i < 0 {
			return Resource{}, nil, notFound()
		}
		u := d.users[i]
		if err := p.check(u.resource.ETag); err != nil {
			return Resource{}, nil, err
		}
		if err := change(&u, serial); err != nil {
			return Resource{}, nil, err
		}
		d.users = slices.Clone(d.users)
		d.users[i] = u
		return u.resource, &u, nil
	})
}

// changeUsers runs a change under the account's and the database's locks, and waits for the journal without them.
func (d *Database) changeUsers(change func(serial uint32) (Resource, *user, error)) (Resource, error) {
	a := d.account
	a.mu.Lock()
	d.mu.Lock()
	serial, counter := a.nextSerial()
	r, u, err := change(serial)
	wait := nothingToWrite
	if err == nil {
		wait = a.record(counter, d.userMutation(u))
	}
	d.mu.Unlock()
	a.mu.Unlock()
	if err != nil {
		return Resource{}, err
	}
	return r, await(wait)
}

func (d *Database) userMutation(u *user) Mutation {
	record := userRecord{Body: u.resource.Body}
	for _, p := range u.permissions {
		record.Permissions = append(record.Permissions, p.Body)
	}
	text, err := json.Marshal(record)
	if err != nil { // bodies that were parsed before
		text = nil
	}
	return Mutation{Key: orderedKey(keyUser, d.resource.RID, u.ordinal), Value: text}
}

func (d *Database) restoreUser(record numbered) error {
	var stored userRecord
	if err := json.Unmarshal(record.text, &stored); err != nil {
		return fmt.Errorf("a user: %w", errRecord)
	}
	u := user{ordinal: record.n}
	var err error
	if u.resource, _, err = resourceOf(stored.Body); err != nil {
		return err
	}
	for _, body := range stored.Permissions {
		p, _, err := resourceOf(body)
		if err != nil {
			return err
		}
		u.permissions = append(u.permissions, p)
	}
	d.users = append(d.users, u)
	return nil
}

// Permissions lists the permissions of a user in the order of their creation (404/1003).
func (d *Database) Permissions(of Ref) ([]Resource, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if i := d.userIndex(of); i >= 0 {
		return d.users[i].permissions, nil
	}
	return nil, parentNotFound()
}

// Permission describes a permission of a user (404, 404/1003).
func (d *Database) Permission(of, ref Ref) (Resource, error) {
	all, err := d.Permissions(of)
	if err != nil {
		return Resource{}, err
	}
	if i := indexOf(all, ref); i >= 0 {
		return all[i], nil
	}
	return Resource{}, notFound()
}

// CreatePermission gives a user a permission (400, 404, 409). A user has one permission for a resource.
func (d *Database) CreatePermission(of Ref, body []byte) (Resource, error) {
	tree, resource, id, err := parsePermission(body)
	if err != nil {
		return Resource{}, err
	}
	var made Resource
	_, err = d.changeUser(of, Precondition{}, func(u *user, serial uint32) error {
		for _, p := range u.permissions {
			if p.ID == id || permissionResource(p) == resource {
				return refuse(http.StatusConflict, 0, textConflict)
			}
		}
		raw, _ := decodeRID(u.resource.RID)
		made = d.describePermission(u, tree, id, childRID(raw, 0, uint64(serial)), serial)
		u.permissions = append(slices.Clip(u.permissions), made)
		return nil
	})
	return made, err
}

// ReplacePermission changes a permission (400, 404, 409, 412).
func (d *Database) ReplacePermission(of, ref Ref, body []byte, p Precondition) (Resource, error) {
	tree, _, id, err := parsePermission(body)
	if err != nil {
		return Resource{}, err
	}
	var made Resource
	_, err = d.changeUser(of, Precondition{}, func(u *user, serial uint32) error {
		i := indexOf(u.permissions, ref)
		if i < 0 {
			return notFound()
		}
		if err := p.check(u.permissions[i].ETag); err != nil {
			return err
		}
		if id != u.permissions[i].ID && indexOf(u.permissions, Ref{Name: id}) >= 0 {
			return refuse(http.StatusConflict, 0, textConflict)
		}
		made = d.describePermission(u, tree, id, u.permissions[i].RID, serial)
		u.permissions = slices.Clone(u.permissions)
		u.permissions[i] = made
		return nil
	})
	return made, err
}

// DeletePermission takes a permission away (404, 412). Tokens that were made of it hold until they expire.
func (d *Database) DeletePermission(of, ref Ref, p Precondition) error {
	_, err := d.changeUser(of, Precondition{}, func(u *user, _ uint32) error {
		i := indexOf(u.permissions, ref)
		if i < 0 {
			return notFound()
		}
		if err := p.check(u.permissions[i].ETag); err != nil {
			return err
		}
		u.permissions = slices.Delete(slices.Clone(u.permissions), i, i+1)
		return nil
	})
	return err
}

func (d *Database) describePermission(u *user, tree *node, id, rid string, version uint32) Resource {
	return describe(tree, id, rid, u.resource.Self+"permissions/"+rid+"/", uint64(version), d.account.now())
}

// parsePermission checks the mode and the resource; whether the resource is there, nobody asks.
func parsePermission(body []byte) (tree *node, resource, id string, err error) {
	tree, v, id, err := parseResource(body)
	if err != nil {
		return nil, "", "", err
	}
	if mode, _ := v.Get("permissionMode").Str(); mode != "All" && mode != "Read" {
		return nil, "", "", badRequest("The permissionMode of a permission is All or Read.")
	}
	resource, ok := v.Get("resource").Str()
	if !ok || resource == "" {
		return nil, "", "", badRequest("The input content is invalid because the required properties - 'resource; ' - are missing")
	}
	if key := v.Get("resourcePartitionKey"); !key.IsUndefined() && key.Kind() != value.Null && key.Kind() != value.Array {
		return nil, "", "", badRequest("The resourcePartitionKey of a permission is an array.")
	}
	tree.remove("_token")
	return tree, resource, id, nil
}

func permissionResource(p Resource) string {
	v, err := value.Parse(p.Body)
	if err != nil {
		return ""
	}
	text, _ := v.Get("resource").Str()
	return text
}
