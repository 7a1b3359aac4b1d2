package store

import (
	"net/http"
	"strconv"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// uniqueValues renders the value of each unique key so that equal values are equal strings. A missing path counts as
// null, and null takes part.
func (d *Definition) uniqueValues(v value.Value) []string {
	if len(d.uniqueTokens) == 0 {
		return nil
	}
	out := make([]string, len(d.uniqueTokens))
	for i, paths := range d.uniqueTokens {
		text := strconv.AppendInt(nil, int64(i), 10)
		for _, tokens := range paths {
			text = append(text, ' ')
			leaf := v.At(tokens...)
			if leaf.IsUndefined() {
				leaf = value.NullValue()
			}
			text = leaf.AppendJSON(text)
		}
		out[i] = string(text)
	}
	return out
}

// checkUnique refuses values that another item of the logical partition has (409/3301).
func (s *state) checkUnique(dr *draft, old *item) error {
	for _, v := range dr.unique {
		holder, taken := s.unique.Get(uniqueEntry{canon: dr.canon, value: v})
		if taken && holder.it != old {
			return refuse(http.StatusConflict, SubstatusUniqueIndexConflict, textUnique)
		}
	}
	return nil
}
