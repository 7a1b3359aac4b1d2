// Package sql reads the query language of Azure Cosmos DB for NoSQL: text to a typed tree and back.
//
// [Parse] turns a query's text into a [Query] and applies every check that needs no data: names that don't resolve, unknown
// functions, wrong numbers of arguments, clauses that exclude each other. What it refuses is a [*SyntaxError] with the
// service's own code where that is known. [Query.String] prints a tree in one canonical form; parsing that form gives an
// equal tree.
//
// The package neither evaluates nor plans. Its tree has one small struct for each construct behind the sealed interfaces
// [Expr] and [Source], so that a type switch in an evaluator can be complete.
package sql
