package restapi

import (
	"net/http"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// Read account: GET /
//
// Supported: the account document with its regions: of one, the address that the client used; of several, a host for each.
// Differs from the service: the limits in queryEngineConfiguration are the published ones, not an account's own; the id is a
// fixed text, and not "localhost", because the JavaScript SDK reads the account before every request of such an account.

// accountName is what the account calls itself.
const accountName = "grove-emulator"

type accountLocation struct {
	Name     string `json:"name"`
	Endpoint string `json:"databaseAccountEndpoint"`
}

type replicationPolicy struct {
	Async   bool `json:"asyncReplication"`
	Minimum int  `json:"minReplicaSetSize"`
	Maximum int  `json:"maxReplicasetSize"`
}

type accountDocument struct {
	Self                string            `json:"_self"`
	ID                  string            `json:"id"`
	RID                 string            `json:"_rid"`
	Media               string            `json:"media"`
	Addresses           string            `json:"addresses"`
	Databases           string            `json:"_dbs"`
	Writable            []accountLocation `json:"writableLocations"`
	Readable            []accountLocation `json:"readableLocations"`
	MultipleWrite       bool              `json:"enableMultipleWriteLocations"`
	ContinuousBackup    bool              `json:"continuousBackupEnabled"`
	NRegionCommit       bool              `json:"enableNRegionSynchronousCommit"`
	PartitionFailover   bool              `json:"enablePerPartitionFailoverBehavior"`
	UserReplication     replicationPolicy `json:"userReplicationPolicy"`
	Consistency         map[string]string `json:"userConsistencyPolicy"`
	SystemReplication   replicationPolicy `json:"systemReplicationPolicy"`
	ReadPolicy          map[string]int    `json:"readPolicy"`
	EngineConfiguration string            `json:"queryEngineConfiguration"`
}

// engineConfiguration holds JSON in a string, as the service has it.
const engineConfiguration = `{"maxSqlQueryInputLength":524288,"maxJoinsPerSqlQuery":10,"maxLogicalAndPerSqlQuery":2000,` +
	`"maxLogicalOrPerSqlQuery":2000,"maxUdfRefPerSqlQuery":10,"maxInExpressionItemsCount":16000,` +
	`"queryMaxInMemorySortDocumentCount":500,"maxQueryRequestTimeoutFraction":0.9,"sqlAllowNonFiniteNumbers":false,` +
	`"sqlAllowAggregateFunctions":true,"sqlAllowSubQuery":true,"sqlAllowScalarSubQuery":true,"allowNewKeywords":true,` +
	`"sqlAllowLike":true,"sqlAllowGroupByClause":true,"maxSpatialQueryCells":12,"spatialMaxGeometryPointCount":256,` +
	`"sqlDisableOptimizationFlags":0,"sqlAllowTop":true,"enableSpatialIndexing":true}`

func (c *call) readAccount() (*result, *store.Error) {
	writable, readable, multiple := c.h.cfg.Regions.locations(c.regionEndpoint)
	id := accountName
	if c.region != "" {
		id += "-" + regionSlug(c.region)
	}
	replication := replicationPolicy{Minimum: 1, Maximum: 4}
	body := encodeJSON(accountDocument{
		ID:                  id,
		RID:                 accountName + ".sql.cosmos.azure.com",
		Media:               "//media/",
		Addresses:           "//addresses/",
		Databases:           "//dbs/",
		Writable:            writable,
		Readable:            readable,
		MultipleWrite:       multiple,
		UserReplication:     replication,
		Consistency:         map[string]string{"defaultConsistencyLevel": c.h.cfg.Consistency},
		SystemReplication:   replication,
		ReadPolicy:          map[string]int{"primaryReadCoefficient": 1, "secondaryReadCoefficient": 1},
		EngineConfiguration: engineConfiguration,
	})
	return &result{status: http.StatusOK, body: body, charge: metadataCharge}, nil
}
