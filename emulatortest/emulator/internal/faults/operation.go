package faults

// Operation is a kind of request, as the emulator names it in faults, in the request log and in counters.
type Operation string

// The operations of the service. Unknown stands for a request that fits none of them.
const (
	Unknown                Operation = "unknown"
	ReadAccount            Operation = "read account"
	CreateDatabase         Operation = "create database"
	ListDatabases          Operation = "list databases"
	QueryDatabases         Operation = "query databases"
	ReadDatabase           Operation = "read database"
	DeleteDatabase         Operation = "delete database"
	CreateContainer        Operation = "create container"
	ListContainers         Operation = "list containers"
	QueryContainers        Operation = "query containers"
	ReadContainer          Operation = "read container"
	ReplaceContainer       Operation = "replace container"
	DeleteContainer        Operation = "delete container"
	ListOffers             Operation = "list offers"
	QueryOffers            Operation = "query offers"
	ReadOffer              Operation = "read offer"
	ReplaceOffer           Operation = "replace offer"
	ReadPartitionKeyRanges Operation = "read partition key ranges"
	CreateItem             Operation = "create item"
	UpsertItem             Operation = "upsert item"
	ReadItem               Operation = "read item"
	ReplaceItem            Operation = "replace item"
	DeleteItem             Operation = "delete item"
	PatchItem              Operation = "patch item"
	ListItems              Operation = "list items"
	QueryItems             Operation = "query items"
	QueryPlan              Operation = "query plan"
	TransactionalBatch     Operation = "transactional batch"
	Bulk                   Operation = "bulk"
	ChangeFeed             Operation = "change feed"
	DeleteItemsByPartition Operation = "delete items by partition key"
	Script                 Operation = "script"
)
