package store

import (
	"net/http"
	"slices"
	"sync"
)

// Database is one database of an account. A handle outlives its database: then every verb is 404.
type Database struct {
	account  *Account
	serial   uint32
	resource Resource

	mu         sync.RWMutex
	containers []*Container
	clientKeys []clientKey // in the order of their creation
	users      []user      // never changed in place
	deleted    bool
}

// CreateDatabase adds a database from the request's body (400, 409/3206). With a throughput it gets an offer, which its
// containers share unless they have their own.
func (a *Account) CreateDatabase(body []byte, t Throughput) (*Database, error) {
	tree, _, id, err := parseResource(body)
	if err != nil {
		return nil, err
	}
	if err := t.validate(); err != nil {
		return nil, err
	}
	a.mu.Lock()
	if a.find(id) != nil {
		a.mu.Unlock()
		return nil, refuse(http.StatusConflict, SubstatusDatabaseNameExists, textConflict)
	}
	serial, counter := a.nextSerial()
	rid := databaseRID(serial)
	d := &Database{account: a, serial: serial}
	d.resource = describe(tree, id, rid, "dbs/"+rid+"/", uint64(serial), a.now(), "colls", "users")
	a.databases = append(a.databases, d)
	unit := []Mutation{counter, {Key: keyDatabase + rid, Value: encodeResource(serial, d.resource)}}
	if !t.isZero() {
		unit = append(unit, a.addOffer(d.resource, t)...)
	}
	wait := a.record(unit...)
	a.mu.Unlock()
	return d, await(wait)
}

// find needs a.mu.
func (a *Account) find(name string) *Database {
	for _, d := range a.databases {
		if d.resource.ID == name {
			return d
		}
	}
	return nil
}

// Database finds a database by its name (404).
func (a *Account) Database(name string) (*Database, error) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if d := a.find(name); d != nil {
		return d, nil
	}
	return nil, notFound()
}

// DatabaseByRID finds a database by its rid; nil when there is none.
func (a *Account) DatabaseByRID(rid string) *Database {
	a.mu.RLock()
	defer a.mu.RUnlock()
	for _, d := range a.databases {
		if d.resource.RID == rid {
			return d
		}
	}
	return nil
}

// Databases lists the databases in the order of their creation.
func (a *Account) Databases() []Resource {
	a.mu.RLock()
	defer a.mu.RUnlock()
	out := make([]Resource, 0, len(a.databases))
	for _, d := range a.databases {
		out = append(out, d.resource)
	}
	return out
}

// Resource describes the database.
func (d *Database) Resource() Resource { return d.resource }

// Delete removes the database with everything in it (404, 412).
func (d *Database) Delete(p Precondition) error {
	a := d.account
	a.mu.Lock()
	i := slices.Index(a.databases, d)
	if i < 0 {
		a.mu.Unlock()
		return notFound()
	}
	if err := p.check(d.resource.ETag); err != nil {
		a.mu.Unlock()
		return err
	}
	a.databases = slices.Delete(a.databases, i, i+1)
	d.mu.Lock()
	d.deleted = true
	containers := d.containers
	d.containers = nil
	d.mu.Unlock()
	unit := append(a.dropOffer(d.resource), Mutation{Key: keyDatabase + d.resource.RID},
		Mutation{Key: keyClientKey + d.resource.RID + "/", Prefix: true},
		Mutation{Key: keyUser + d.resource.RID + "/", Prefix: true})
	for _, c := range containers {
		unit = append(unit, c.drop()...)
	}
	wait := a.record(unit...)
	a.mu.Unlock()
	return await(wait)
}

func (d *Database) list() []*Container {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return slices.Clone(d.containers)
}

// ContainerByRID finds a container by its rid; nil when there is none.
func (d *Database) ContainerByRID(rid string) *Container {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for _, c := range d.containers {
		if c.rid == rid {
			return c
		}
	}
	return nil
}

// Container finds a container by its name (404; 404/1003 when the database is gone).
func (d *Database) Container(name string) (*Container, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.deleted {
		return nil, parentNotFound()
	}
	if c := d.find(name); c != nil {
		return c, nil
	}
	return nil, notFound()
}

// find needs d.mu.
func (d *Database) find(name string) *Container {
	for _, c := range d.containers {
		if c.name == name {
			return c
		}
	}
	return nil
}

// Containers lists the containers in the order of their creation.
func (d *Database) Containers() []Resource {
	containers := d.list()
	out := make([]Resource, 0, len(containers))
	for _, c := range containers {
		out = append(out, c.Resource())
	}
	return out
}
