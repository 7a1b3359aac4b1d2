package restapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// metadataCharge is what requests on databases, containers, offers and ranges cost.
const metadataCharge = store.RequestChargeMetadata

// refused gives the refusal in an error of the store. An error of another type is a journal that failed: the write may
// or may not be there, which is what 503 means to a client.
func refused(err error) *store.Error {
	if err == nil {
		return nil
	}
	var e *store.Error
	if errors.As(err, &e) {
		return e
	}
	return fail(http.StatusServiceUnavailable, 0, "The emulator could not make the change durable: check the space and the rights of its data folder.")
}

// parentMissing turns the 404 of a resource on the way into the one that names a missing parent.
func parentMissing(e *store.Error) *store.Error {
	if e == nil || e.Status != http.StatusNotFound || e.Substatus != 0 {
		return e
	}
	missing := *e
	missing.Substatus = store.SubstatusParentNotFound
	return &missing
}

// found gives 404 for what a rid did not lead to.
func found[T any](resource *T) (*T, *store.Error) {
	if resource == nil {
		return nil, refused(store.NotFound())
	}
	return resource, nil
}

// databaseOf finds the database that the link goes through or to.
func (c *call) databaseOf() (*store.Database, *store.Error) {
	if c.byRID != nil {
		return found(c.byRID.database)
	}
	db, err := c.h.cfg.Account.Database(c.link.database)
	return db, refused(err)
}

// containerOf finds the container that the link goes to; a missing database is a missing parent.
func (c *call) containerOf() (*store.Container, *store.Error) {
	db, e := c.databaseOf()
	if e != nil {
		return nil, parentMissing(e)
	}
	if c.byRID != nil {
		return found(c.byRID.container)
	}
	container, err := db.Container(c.link.container)
	return container, refused(err)
}

// parentOf finds the container that the link goes through, on the way to items or ranges.
func (c *call) parentOf() (*store.Container, *store.Error) {
	container, e := c.containerOf()
	if e != nil {
		return nil, parentMissing(e)
	}
	// A client that remembers a container which was deleted and made again says which one it means.
	if intended := c.header.Get("x-ms-cosmos-intended-collection-rid"); intended != "" && intended != container.Resource().RID {
		return nil, fail(http.StatusBadRequest, substatusWrongContainer,
			"The container has another rid than the one in x-ms-cosmos-intended-collection-rid: read the container again.")
	}
	return container, nil
}

// substatusWrongContainer says that the container of that name is another one than the client thinks.
const substatusWrongContainer = 1024

func (c *call) precondition() store.Precondition {
	return store.Precondition{IfMatch: c.opts.ifMatch, IfNoneMatch: c.opts.ifNoneMatch}
}

// placed makes a result that carries the container's names, which clients key their session tokens by.
func placed(container *store.Container) *result {
	resource := container.Resource()
	return &result{
		containerRID: resource.RID,
		altPath:      altContentPath(container.DatabaseResource().ID, resource.ID),
	}
}

// described is the answer with one resource: its body, its etag and the usual charge of metadata.
func described(status int, r store.Resource) *result {
	return &result{status: status, body: r.Body, etag: r.ETag, charge: metadataCharge}
}

// feedBody writes a feed page: the owner's rid, the entries under the name of their kind, and their count.
func feedBody(rid, name string, entries [][]byte) []byte {
	size := len(rid) + len(name) + 40
	for _, entry := range entries {
		size += len(entry) + 1
	}
	b := bytes.NewBuffer(make([]byte, 0, size))
	b.WriteString(`{"_rid":`)
	b.Write(encodeJSON(rid))
	b.WriteString(`,"` + name + `":[`)
	for i, entry := range entries {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(entry)
	}
	b.WriteString(`],"_count":` + strconv.Itoa(len(entries)) + `}`)
	return b.Bytes()
}

func bodiesOf(resources []store.Resource) [][]byte {
	bodies := make([][]byte, len(resources))
	for i, r := range resources {
		bodies[i] = r.Body
	}
	return bodies
}

// encodeJSON writes values whose types have no way to fail: structs, maps and slices of strings and numbers.
func encodeJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return []byte(`{}`)
	}
	return b
}
