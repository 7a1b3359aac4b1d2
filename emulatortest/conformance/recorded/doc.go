// Package recorded holds the emulator against answers that Microsoft's teams recorded from Azure Cosmos DB: query plans and
// refusals, orders, numbers, aggregates and groups. The records are not part of this repository: the tests read them from
// the folder ../shared/data/service-truth beside it, or from the one that COSMOS_RECORDED names, and are skipped without it.
package recorded
