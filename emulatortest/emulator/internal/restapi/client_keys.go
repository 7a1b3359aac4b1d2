package restapi

import (
	"net/http"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// Client encryption keys: /dbs/{db}/clientencryptionkeys
//
// Supported: create (201; 400 without encryptionAlgorithm, wrappedDataEncryptionKey or keyWrapMetadata; 409), list and query,
// read (304, 404), replace (200; 412), delete (204; 412). They are metadata: clients that encrypt properties themselves keep their
// wrapped keys here, and the account never uses them.
// A container's clientEncryptionPolicy names them, has the form that SDKs write, and can't be changed.

const clientKeyFeed = "ClientEncryptionKeys"

func (c *call) createClientKey() (*result, *store.Error) {
	db, e := c.databaseOf()
	if e != nil {
		return nil, parentMissing(e)
	}
	resource, err := db.CreateClientKey(c.body)
	if err != nil {
		return nil, refused(err)
	}
	return described(http.StatusCreated, resource), nil
}

func (c *call) listClientKeys() (*result, *store.Error) {
	db, e := c.databaseOf()
	if e != nil {
		return nil, parentMissing(e)
	}
	return c.listed(db.Resource().RID, clientKeyFeed, bodiesOf(db.ClientKeys()))
}

func (c *call) queryClientKeys() (*result, *store.Error) {
	db, e := c.databaseOf()
	if e != nil {
		return nil, parentMissing(e)
	}
	return c.queryResources(db.Resource().RID, clientKeyFeed, db.ClientKeys())
}

func (c *call) readClientKey() (*result, *store.Error) {
	db, e := c.databaseOf()
	if e != nil {
		return nil, parentMissing(e)
	}
	resource, err := db.ClientKey(c.link.resource)
	if err != nil {
		return nil, refused(err)
	}
	return c.unlessUnchanged(described(http.StatusOK, resource)), nil
}

func (c *call) replaceClientKey() (*result, *store.Error) {
	db, e := c.databaseOf()
	if e != nil {
		return nil, parentMissing(e)
	}
	resource, err := db.ReplaceClientKey(c.link.resource, c.body, c.precondition())
	if err != nil {
		return nil, refused(err)
	}
	return described(http.StatusOK, resource), nil
}

func (c *call) deleteClientKey() (*result, *store.Error) {
	db, e := c.databaseOf()
	if e != nil {
		return nil, parentMissing(e)
	}
	if err := db.DeleteClientKey(c.link.resource, c.precondition()); err != nil {
		return nil, refused(err)
	}
	return &result{status: http.StatusNoContent, charge: metadataCharge}, nil
}
