// Package eval runs parsed queries over items that a caller hands it, one after the other. It does no I/O and knows
// neither pages nor partitions; see the query package for those.
//
// [Compile] turns a query's tree into closures once. Names bound by FROM, the keys of GROUP BY and the results of
// aggregates become numbered slots, so that evaluation looks nothing up by name. A [Run] holds the slots of one execution.
//
// For each item the clauses work in this order, each feeding the next one row at a time:
//
//	FROM and JOIN   bind names, nested loops from left to right
//	WHERE           keeps rows for which the filter is true
//	GROUP BY        folds rows into groups (aggregates without GROUP BY: into one)
//	SELECT          computes the row's value; VALUE drops undefined
//	DISTINCT        drops values seen before
//
// ORDER BY, TOP, OFFSET and LIMIT belong to the whole result and so to the caller; [Row] gives it the sort keys.
//
// # Undefined
//
// A missing property is undefined, which is a value of its own. Functions and operators give undefined for operands of
// types that they don't take. Comparisons of values of different types are undefined, with one exception that the
// documentation doesn't make and the service does: != is true for two defined values of different types, which is what
// "c.x != null" relies on.
//
// # Limits
//
// A query can multiply: joins of long arrays, strings built from strings, lists of lists. [Limits] bounds the rows, the sizes
// of single values, the memory and the work of one request, [Memory] the memory of all of them. A [Meter] counts: memory is
// debited before it is allocated, functions debit what they read (the table is in function_debit.go), and the request's context
// is looked at as work is done. So no query text can hang or exhaust the process, and none goes on when its client has left.
package eval
