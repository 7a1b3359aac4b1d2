// Package query runs a parsed query over a snapshot of items, one page at a time.
//
// [Run] takes the query, its parameters and a [Source] of items in the order of their rids. It gives a [Page]: documents as
// JSON, a continuation token while more remains, and the counts behind the metrics header and the charge.
//
// # Pages
//
// There is no state between pages but the token. How a query goes on from it depends on its clauses:
//
//	filter, projection, joins   the source is read on from the item, and within the item from the row, where the page ended
//	ORDER BY                    the index is read on from the sort key and rid of the last row; without one everything is read and sorted
//	DISTINCT                    read again from the start; what came up at or before the place where the page ended is dropped
//	GROUP BY, aggregates        computed again; groups go in the order of the first row that each one had
//
// So a page never depends on how many rows came before it: items written or deleted between two pages appear or are missing
// where they belong, and no other row is given twice or left out. The values of groups are those of the moment.
//
// A token belongs to its query, parameters included; with another one, or garbled, it is refused.
//
// # Indexes
//
// [PlanAccess] says which indexes could serve a query: those of the paths in conditions that join by AND, and that of ORDER BY, as far
// as the [Policy] has them. An [IndexedSource] that has them gives the items that may match, or all items in the order of ORDER BY,
// and the page runs over those as it would over all: an index changes what is read and never what comes out. Of a filter and
// an ORDER BY the one serves that reads less.
//
// [Policy] also decides which ORDER BY is refused, what the index metrics say, and how many items count as retrieved (those that
// pass the part of the filter which an index would serve), so that a page's charge looks like the service's.
package query
