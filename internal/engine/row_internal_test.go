package engine

import (
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/internal/merge"
)

// A sorted row that the library has to read knows still what it is read into.
func TestARowThatIsReadAgainKeepsItsType(t *testing.T) {
	t.Parallel()
	k := callOn(t, nil, "acme")
	const levels = 2000 // more than a plan follows
	deep := strings.Repeat("[", levels) + strings.Repeat("]", levels)
	for name, body := range map[string]string{
		"deep":           `{"r":"x","o":[{"v":1}],"d":{"id":"a","kind":"k","foreign":` + deep + `}}`,
		"twice a member": `{"r":"x","o":[{"v":1}],"r":"y","d":{"id":"a"}}`,
		"odd order":      `{"d":{"id":"a"},"o":[{"v":1,"v":2}],"r":"x"}`,
	} {
		rows, err := decodeItems[merge.Row[Row]](k, [][]byte{[]byte(body)})
		if err == nil && (len(rows) != 1 || rows[0].Doc.Value == nil && rows[0].Doc.Err == nil) {
			t.Errorf("%s: %+v", name, rows)
		}
	}
}
