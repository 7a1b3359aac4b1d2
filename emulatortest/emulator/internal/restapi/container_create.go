package restapi

import (
	"net/http"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// Create container: POST /dbs/{db}/colls
//
// Supported: every property is kept and returned, the known ones are checked and completed with their defaults. 201; 400;
// 404/1003 when the database is missing; 409 when the id is taken.
// Differs from the service: a partition key without a version gets version 2, where the service gives 1, because the Go SDK
// leaves the version out and then computes ranges that version 1 doesn't have.

func (c *call) createContainer() (*result, *store.Error) {
	db, e := c.databaseOf()
	if e != nil {
		return nil, parentMissing(e)
	}
	if e := c.checkProperties(); e != nil {
		return nil, e
	}
	t, e := c.throughputAsked()
	if e != nil {
		return nil, e
	}
	container, err := db.CreateContainer(c.body, t)
	if err != nil {
		return nil, refused(err)
	}
	r := placed(container)
	resource := container.Resource()
	r.status, r.body, r.etag, r.charge = http.StatusCreated, resource.Body, resource.ETag, metadataCharge
	return r, nil
}
