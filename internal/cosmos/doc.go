// Package cosmos is the seam to azcosmos: what has to happen inside the SDK's
// pipeline, and the rules by which it is called.
//
// [ClientOptions] adds a pipeline policy to a client. A caller puts an
// [Exchange] into the context of a call ([Attempts.Context]) and learns from it
// what the policy saw: every attempt and its charge, the body of a page before
// the SDK decodes it, and that a write left this process at most once.
package cosmos
