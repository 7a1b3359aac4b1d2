// Package layout maps between the form in which Grove works with documents and
// the form in which they stand in a container that others made: other names of
// members, an id with a prefix, an envelope around the entity, key levels that
// are filled from several members.
//
// The first form is called canonical here, the second stored. The mapping is
// pure and does no I/O. It is applied where documents, queries and patches
// leave and enter the process, so that nothing between knows of it. A container
// in Grove's own form has no Layout, and costs nothing.
package layout
