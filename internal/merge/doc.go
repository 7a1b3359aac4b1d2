// Package merge puts the sorted results of several physical partitions
// together, in the order in which one partition would have given them.
//
// A [Value] is a JSON value as the service compares it, a [Row] is a document
// beside the values that it is sorted by, and [Streams] merges runs of rows
// while it holds one page of each.
package merge
