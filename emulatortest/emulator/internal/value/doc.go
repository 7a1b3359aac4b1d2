// Package value holds JSON values the way the query language sees them: the six JSON kinds and a seventh, undefined.
//
// A [Value] is small (three words), immutable and safe to share between goroutines. Its zero value is undefined, which is
// what a missing property evaluates to; it is not null, and it equals nothing but another undefined.
//
// One rule keeps the rest of the service simple: an array or object never holds undefined. Constructors drop such
// elements and members, because that is what the service shows of them in every result.
//
// Numbers are IEEE 754 doubles, as in the service; a JSON number beyond their range is an error, and digits beyond their
// precision are lost.
package value
