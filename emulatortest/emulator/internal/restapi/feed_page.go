package restapi

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// listed is one page of a metadata feed. Its continuation is the number of the entry to go on with: such feeds are short
// and in the order of creation, so that only a deletion between two pages can shift them.
func (c *call) listed(rid, name string, entries [][]byte) (*result, *store.Error) {
	first := 0
	if c.opts.continuation != "" {
		n, err := strconv.Atoi(strings.TrimPrefix(c.opts.continuation, metadataTokenPrefix))
		if err != nil || n < 0 || !strings.HasPrefix(c.opts.continuation, metadataTokenPrefix) {
			return nil, badRequest("The continuation token in x-ms-continuation is not one of this feed.")
		}
		first = min(n, len(entries))
	}
	page := entries[first:]
	r := &result{status: http.StatusOK, charge: metadataCharge, isFeed: true}
	if c.opts.maxItems > 0 && len(page) > c.opts.maxItems {
		page = page[:c.opts.maxItems]
		r.continuation = metadataTokenPrefix + strconv.Itoa(first+len(page))
	}
	r.itemCount = len(page)
	r.body = feedBody(rid, name, page)
	return r, nil
}

const metadataTokenPrefix = "m1-"
