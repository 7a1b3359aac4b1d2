package emulator

import (
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/faults"
)

// Operation is a kind of request, as it is named in faults and in the log.
type Operation = faults.Operation

// Fault says which requests fail on purpose, and how. Make one with [Answer], [Throttle], [Cut] or [Delay], and narrow it
// with its methods.
type Fault = faults.Fault

// Faults holds the faults of a service.
type Faults = faults.Set

// ArmedFault is a fault in a service: it tells how often it happened and can be taken out again.
type ArmedFault = faults.Armed

// The operations of the service.
const (
	ReadAccount            = faults.ReadAccount
	CreateDatabase         = faults.CreateDatabase
	ListDatabases          = faults.ListDatabases
	QueryDatabases         = faults.QueryDatabases
	ReadDatabase           = faults.ReadDatabase
	DeleteDatabase         = faults.DeleteDatabase
	CreateContainer        = faults.CreateContainer
	ListContainers         = faults.ListContainers
	QueryContainers        = faults.QueryContainers
	ReadContainer          = faults.ReadContainer
	ReplaceContainer       = faults.ReplaceContainer
	DeleteContainer        = faults.DeleteContainer
	ListOffers             = faults.ListOffers
	QueryOffers            = faults.QueryOffers
	ReadOffer              = faults.ReadOffer
	ReplaceOffer           = faults.ReplaceOffer
	ReadPartitionKeyRanges = faults.ReadPartitionKeyRanges
	CreateItem             = faults.CreateItem
	UpsertItem             = faults.UpsertItem
	ReadItem               = faults.ReadItem
	ReplaceItem            = faults.ReplaceItem
	DeleteItem             = faults.DeleteItem
	PatchItem              = faults.PatchItem
	ListItems              = faults.ListItems
	QueryItems             = faults.QueryItems
	QueryPlan              = faults.QueryPlan
	TransactionalBatch     = faults.TransactionalBatch
	Bulk                   = faults.Bulk
	ChangeFeed             = faults.ChangeFeed
	DeleteItemsByPartition = faults.DeleteItemsByPartition
)

// Answer is a fault that answers with an HTTP status of 400 or above and a substatus (0 for none), for example 503 and 0.
// It happens once, before the request takes effect, unless its methods say otherwise.
func Answer(status, substatus int) Fault { return faults.Answer(status, substatus) }

// Throttle is a fault that answers 429/3200 and asks the client to come back after that time.
func Throttle(retryAfter time.Duration) Fault { return faults.Throttle(retryAfter) }

// Cut is a fault that breaks the connection without an answer.
func Cut() Fault { return faults.Cut() }

// Delay is a fault that holds the request back for that time on the emulator's clock and then serves it.
func Delay(d time.Duration) Fault { return faults.Delay(d) }
