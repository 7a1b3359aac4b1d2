package edge

import "github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"

func (c *call) queryItems() (*result, *store.Error)      { return nil, unsupported("Queries are") }
func (c *call) queryDatabases() (*result, *store.Error)  { return nil, unsupported("Queries are") }
func (c *call) queryContainers() (*result, *store.Error) { return nil, unsupported("Queries are") }
func (c *call) queryOffers() (*result, *store.Error)     { return nil, unsupported("Queries are") }
func (c *call) readQueryPlan() (*result, *store.Error)   { return nil, unsupported("Queries are") }
