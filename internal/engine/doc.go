// Package engine reads and writes the documents of one entity type in one
// container, a [Collection]: the one way of a write (an operation, sent alone or
// in a batch, to an outcome), the one way of a read (pages of one partition or of
// many), sessions, key ranges, and what packages above add to writes. It knows no
// Go type of an application: documents are JSON with a header. Packages
// repository, parented, registry and denorm are the shells over it, and
// docs/internals.md follows one write through it.
package engine
