package tenantitem

import (
	"fmt"
	"strings"
)

// Suggest returns the path of the entity's field that is nearest to a name
// that is not one, or "" when none is near.
func (m *Model) Suggest(name string) string {
	best, bestDistance := "", len(name)/2+1
	for _, f := range m.Fields {
		if strings.EqualFold(f.Path, name) {
			return f.Path
		}
		if d := editDistance(f.Path, name); d < bestDistance {
			best, bestDistance = f.Path, d
		}
	}
	return best
}

func (m *Model) suggestion(name string) string {
	if near := m.Suggest(name); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "use a JSON name of " + m.Name
}

// UnknownField returns the error for a field that the entity does not have,
// with the nearest name as its hint. It unwraps to [ErrInvalid].
func (m *Model) UnknownField(name string) error {
	return &InvalidError{What: "field", Reason: fmt.Sprintf("%s has no field %q", m.Name, name), Hint: m.suggestion(name)}
}

// editDistance counts the insertions, deletions, replacements and swaps of
// neighbours that turn a into b.
func editDistance(a, b string) int {
	prev2, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
