package emulator

import (
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/faults"
)

// Operation is a kind of request, as it is named in faults and in the log.
type Operation = faults.Operation

// Fault says which requests fail on purpose, and how. Make one with [Answer], [Throttle], [Cut], [Delay], [Kill], [Suspend],
// [Behind], [EmptyPage], [ShortPage], [OtherForm], [Split] or [Merge]. Its methods say which requests it meets: On (operations), Database,
// Container, Item, Client, Nth, Times, Keep, Probability; and when: AfterEffect (once the request has taken effect), Later, Delayed. So
// Cut().AfterEffect().On(CreateItem) loses the answer of a create that was applied. Faults on the same request happen together when
// they decide different things. Printed, a Fault is the Go code that makes it.
type Fault = faults.Fault

// Faults holds the faults of a service.
type Faults = faults.Set

// ArmedFault is a fault in a service: it tells how often it happened and can be taken out again.
type ArmedFault = faults.Armed

// The operations of the service.
const (
	ReadAccount                = faults.ReadAccount
	CreateDatabase             = faults.CreateDatabase
	ListDatabases              = faults.ListDatabases
	QueryDatabases             = faults.QueryDatabases
	ReadDatabase               = faults.ReadDatabase
	DeleteDatabase             = faults.DeleteDatabase
	CreateContainer            = faults.CreateContainer
	ListContainers             = faults.ListContainers
	QueryContainers            = faults.QueryContainers
	ReadContainer              = faults.ReadContainer
	ReplaceContainer           = faults.ReplaceContainer
	DeleteContainer            = faults.DeleteContainer
	ListOffers                 = faults.ListOffers
	QueryOffers                = faults.QueryOffers
	ReadOffer                  = faults.ReadOffer
	ReplaceOffer               = faults.ReplaceOffer
	ReadPartitionKeyRanges     = faults.ReadPartitionKeyRanges
	CreateItem                 = faults.CreateItem
	UpsertItem                 = faults.UpsertItem
	ReadItem                   = faults.ReadItem
	ReplaceItem                = faults.ReplaceItem
	DeleteItem                 = faults.DeleteItem
	PatchItem                  = faults.PatchItem
	ListItems                  = faults.ListItems
	QueryItems                 = faults.QueryItems
	QueryPlan                  = faults.QueryPlan
	TransactionalBatch         = faults.TransactionalBatch
	Bulk                       = faults.Bulk
	ChangeFeed                 = faults.ChangeFeed
	DeleteItemsByPartition     = faults.DeleteItemsByPartition
	CreateScript               = faults.CreateScript
	ListScripts                = faults.ListScripts
	QueryScripts               = faults.QueryScripts
	ReadScript                 = faults.ReadScript
	ReplaceScript              = faults.ReplaceScript
	DeleteScript               = faults.DeleteScript
	ExecuteStoredProcedure     = faults.ExecuteStoredProcedure
	ListConflicts              = faults.ListConflicts
	ReadConflict               = faults.ReadConflict
	DeleteConflict             = faults.DeleteConflict
	CreateClientEncryptionKey  = faults.CreateClientEncryptionKey
	ListClientEncryptionKeys   = faults.ListClientEncryptionKeys
	QueryClientEncryptionKeys  = faults.QueryClientEncryptionKeys
	ReadClientEncryptionKey    = faults.ReadClientEncryptionKey
	ReplaceClientEncryptionKey = faults.ReplaceClientEncryptionKey
	DeleteClientEncryptionKey  = faults.DeleteClientEncryptionKey
	CreateUser                 = faults.CreateUser
	ListUsers                  = faults.ListUsers
	QueryUsers                 = faults.QueryUsers
	ReadUser                   = faults.ReadUser
	ReplaceUser                = faults.ReplaceUser
	DeleteUser                 = faults.DeleteUser
	CreatePermission           = faults.CreatePermission
	ListPermissions            = faults.ListPermissions
	QueryPermissions           = faults.QueryPermissions
	ReadPermission             = faults.ReadPermission
	ReplacePermission          = faults.ReplacePermission
	DeletePermission           = faults.DeletePermission
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

// Kill ends the client's process at that request: this one and all that the client makes after it break without an
// answer and without an effect; AfterEffect lets this one take effect. [Faults] has Revive to let the client live again. Name
// the client with the fault's Client method and with [Service.Named].
func Kill() Fault { return faults.Kill() }

// Suspend stops the client's process at that request: this one and all that the client makes meanwhile are held back for
// that time on the emulator's clock, whatever their contexts say, and are then served. AfterEffect lets this one take effect first.
// The process's own timers go on.
func Suspend(d time.Duration) Fault { return faults.Suspend(d) }

// Behind lets a read be answered by a replica that has not seen the latest k writes to its physical partition, eight at
// most: 404/1002 where the session token asks for them. A split or merge makes replicas that are up to date. It changes no write.
func Behind(k int) Fault { return faults.Behind(k) }

// EmptyPage answers a page of a query or list of items with no items and a continuation token that leads to them.
func EmptyPage() Fault { return faults.EmptyPage() }

// ShortPage cuts a page of items, or of the change feed, after n items, one at least.
func ShortPage(n int) Fault { return faults.ShortPage(n) }

// OtherForm answers with the same in another form, which no client may depend on: the members of all documents, and of the answer that
// holds them, in the opposite order, and a continuation token that looks different from those before it.
func OtherForm() Fault { return faults.OtherForm() }

// Split cuts the physical partition that the request goes to in two right before it; the first one when it goes to several.
func Split() Fault { return faults.Split() }

// Merge joins the physical partition that the request goes to with its neighbour right before it, when there is one.
func Merge() Fault { return faults.Merge() }
