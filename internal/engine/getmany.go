package engine

// MaxIDsPerQuery keeps a query by ids well under the service's limits on its
// text (512 KB) and on the answer to one request.
const MaxIDsPerQuery = 1000

// Anys gives ids as values of a condition.
func Anys(ids []string) []any {
	out := make([]any, len(ids))
	for i, id := range ids {
		out[i] = id
	}
	return out
}
