package restapi

import (
	"net/http"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/query"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// Query databases, containers or offers: POST /dbs, /dbs/{db}/colls or /offers with application/query+json
//
// Supported: the whole query language over the resources, as over items of one partition.
// Differs from the service: the service takes only simple filters here.

func (c *call) queryDatabases() (*result, *store.Error) {
	return c.queryResources("", "Databases", c.h.cfg.Account.Databases())
}

func (c *call) queryContainers() (*result, *store.Error) {
	db, e := c.databaseOf()
	if e != nil {
		return nil, parentMissing(e)
	}
	return c.queryResources(db.Resource().RID, "DocumentCollections", db.Containers())
}

func (c *call) queryOffers() (*result, *store.Error) {
	return c.queryResources("", "Offers", c.h.cfg.Account.Offers())
}

// queryResources runs a query over resources, which are in the order of their creation and so of their rids.
func (c *call) queryResources(rid, name string, resources []store.Resource) (*result, *store.Error) {
	if !c.opts.query {
		return nil, badRequest("Offers are made with their database or container: POST here takes queries only.")
	}
	body, e := c.parseQueryBody()
	if e != nil {
		return nil, e
	}
	source := make(query.Slice, len(resources))
	for i, r := range resources {
		v, err := value.Parse(r.Body)
		if err != nil {
			return nil, fail(http.StatusInternalServerError, 0, "A resource's description could not be read.")
		}
		source[i] = query.Item{RID: r.RID, Raw: r.Body, Value: v}
	}
	maxItems := c.opts.maxItems
	if maxItems == 0 {
		maxItems = metadataItems
	}
	page, err := query.Run(c.ctx, query.Request{
		Query:        body.query,
		Parameters:   body.parameters,
		Source:       source,
		Identity:     rid + "/" + name,
		Continuation: c.opts.continuation,
		MaxItems:     maxItems,
		Resume:       body.resume,
		Now:          c.h.cfg.Clock,
		Random:       c.h.cfg.Random.float64,
		Memory:       c.h.queries,
	})
	if err != nil {
		return nil, queryRefusal(err)
	}
	r := &result{charge: metadataCharge}
	c.fillPage(r, name, rid, &page)
	return r, nil
}
