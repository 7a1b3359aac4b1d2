// Package emulator is an Azure Cosmos DB account (NoSQL API) that lives in this process.
//
// A [Service] speaks the account's REST protocol. It has two doors: it is an [net/http.Handler], to be served over a
// network to any client in any language, and it is an azcore transport ([Service.Do]), by which the unchanged Azure SDK
// talks to it without a network, without a goroutine and inside testing/synctest.
//
//	service, err := emulator.New(emulator.Options{})
//	...
//	defer service.Close()
//	http.ListenAndServe("localhost:8081", service)
//
// Tests usually want package emulatortest instead, which makes the service, a client of it, and cleans up both.
//
// # The types, in the order of need
//
//   - [Service], the account, which [New] makes of [Options]; [ScriptLimits]
//     bound its stored procedures.
//   - [NamedTransport] and [RoutingTransport], for clients in this process.
//   - [Fault], what is to go wrong with which [Operation]; [Faults], those of
//     a service; [ArmedFault], one of them.
//   - [Clock], the account's time; [Range], a physical partition;
//     [ForkOptions], for a copy; [Role], what an identity may do.
//   - [Log], what was asked, and [Exchange], one request of it.
//
// # What it keeps to
//
// The service's rules are kept as they are published or can be observed: partition key hashing, physical partitions that
// split and merge, etags, session tokens, transactional batches, patches, TTL, unique keys, the change feed, the query
// language with its cross-partition limits, request charges and throttling. What is not supported is refused by name. Every
// operation's file in internal/restapi opens with what it supports and where it differs; docs/emulator.md has it in one table.
//
// # What a test can do to it
//
// [Service.Faults] makes requests fail on purpose, before or after they took effect. [Service.Clock] turns the time that TTL
// and the change feed go by. [Service.Split] and [Service.Merge] change the physical partitions under a running client.
// [Service.Fork] makes a copy that goes on by itself. [Service.Log] tells what was asked, what it cost and how many partitions it touched.
package emulator
