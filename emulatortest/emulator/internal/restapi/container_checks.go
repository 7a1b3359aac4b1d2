package restapi

import (
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/query"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// checkProperties refuses what the store can't decide about a container's properties.
func (c *call) checkProperties() *store.Error {
	if e := c.checkComputed(); e != nil {
		return e
	}
	body, err := value.Parse(c.body)
	if err != nil {
		return nil //nolint:nilerr // what is not JSON at all is left to the store
	}
	mode, _ := body.At("conflictResolutionPolicy", "mode").Str()
	return c.checkConflictPolicy(mode)
}

// checkComputed refuses a container whose computed properties are no queries that such a property can have. The store can't:
// it knows nothing of the query language. What is not JSON at all is left to it.
func (c *call) checkComputed() *store.Error {
	body, notJSON := value.Parse(c.body)
	if notJSON == nil {
		if _, err := query.ParseComputed(body.Get("computedProperties")); err != nil {
			return queryRefusal(err)
		}
	}
	return nil
}

// isPlanar says that the container's geometries lie in a plane instead of on the globe.
func isPlanar(properties value.Value) bool {
	kind, _ := properties.At("geospatialConfig", "type").Str()
	return kind == "Geometry"
}
