// Package cosmos is the only caller of azcosmos. The packages above keep its
// clients and name its types where their public signatures do; what is asked of
// the service they ask here, so that another version of the SDK is a matter of
// this package.
//
// A function of this package is one request, or none: it fills in the SDK's
// options, mends what the SDK does wrong with them, and returns what came as
// plain values. It repeats nothing and decides nothing. item.go, batch.go,
// query.go and feed.go are about documents, container.go, database.go and
// client.go about what they lie in.
//
// What has to happen inside the SDK's pipeline is here too. [ClientOptions]
// adds a policy to a client. A caller puts an [Exchange] into the context of a
// call ([Attempts.Context]) and learns from it what the policy saw: every
// attempt and its charge, the body of a page before the SDK decodes it, and
// that a write left this process at most once.
package cosmos
