// Package store holds the state of one emulated Azure Cosmos DB account: databases, containers, offers, physical
// partitions and their items, and the changes that the change feed tells. It knows the service's rules about data (keys,
// etags, TTL, unique keys, patch, batches, limits, LSNs, session tokens, charges) and nothing about HTTP or SQL.
//
// The way in is [New] or [Open], then [Account.CreateDatabase], [Database.CreateContainer] and the verbs of [Container].
// Every refusal is an [*Error] that carries the status, the substatus and the text that the service would answer with.
//
// # How items are kept
//
// A container's key space is tiled by physical partitions. Each keeps its items in copy-on-write trees (by id, by
// logical partition, by rid and by LSN), so that a query page, a rollback and a lagging replica are all the same thing: a
// state taken earlier, at the price of a few words. An item is immutable; a write replaces it.
//
// Indexes are such trees as well. One is built when a query first asks for it ([Scope.Indexes]) and follows each write from
// then on; of those that nobody asks for only the latest few are kept. They find candidates and order: what a query makes of
// an item is not the store's affair.
//
// # Locks
//
// Account and Database guard their own maps. Container.topology is held for reading by every request and for writing by
// Split, Merge, Replace and Delete. Each physical partition has a lock of its own, held while memory changes and never
// while the journal waits for the disk. Locks are taken in that order.
package store
