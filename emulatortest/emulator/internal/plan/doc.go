// Package plan decides how a query runs over a container's partitions.
//
// It answers three questions without looking at data. Which partition key values can the WHERE clause be true for
// ([KeysOf])? What can the service's gateway not answer by itself across partitions ([Clauses])? And how does a client
// answer it instead ([Build]): the query plan tells it to run a rewritten query in each partition and to merge the pages by
// sorting, grouping, removing duplicates and cutting off.
//
// The plan's JSON is what the service's plan request returns, as far as the code of @azure/cosmos and the baselines of the
// .NET SDK show it.
package plan
