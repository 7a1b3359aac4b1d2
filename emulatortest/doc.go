// Package emulatortest gives tests an Azure Cosmos DB (NoSQL API): in this process by default, a real endpoint when the
// environment names one.
//
// The shortest way is a client of a fresh, empty account:
//
//	func TestNotes(t *testing.T) {
//		t.Parallel()
//		client := emulatortest.Client(t)
//		...
//	}
//
// The account lives in memory, takes about a millisecond to make, is the test's own and is gone with the test. The client
// is Microsoft's, unchanged; its requests are answered without a network and without a goroutine, so that it also works
// inside testing/synctest.
//
// # More than a client
//
// [New] gives a handle on the emulator: faults to inject, a clock to turn, physical partitions to split and merge, and the
// log of requests. [AssertPointRead], [AssertSinglePartition], [AssertNoFanOut], [AssertRequestUnits] and [AssertRequests] turn
// what a piece of code should cost into a test. [Explore] looks for the fault or the order of requests that breaks a promise.
// [Serve] puts an emulator behind a real loopback address, for clients that need one.
//
// # The types, in the order of need
//
//   - [Emulator], which [New] and [FX] make, with an [Option] for each thing
//     that is not as usual; [Server], for programs outside of the test.
//   - [Scenario], a promise, with an [Actor] for each process; [World], what
//     each of its functions is given; [ExploreOptions].
//   - [FaultKind], what may happen to a [Request]; [Coverage], what [Explore]
//     tried; [Finding], what [Find] found.
//
// # Against a real endpoint
//
// With COSMOS_CONNECTION_STRING, or COSMOS_ENDPOINT and COSMOS_KEY, in the environment, [Client] and [New] give clients of
// that endpoint instead: Microsoft's emulator, or an account. Its databases are shared between tests and outlive them, so
// tests that may run there should take ids of their own and delete what they made. A test that uses an option or a
// method that only the emulator in this process can serve is skipped there, with the reason.
package emulatortest
