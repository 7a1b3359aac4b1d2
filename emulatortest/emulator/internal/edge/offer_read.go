package edge

import (
	"net/http"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// Read offer: GET /offers/{rid}
//
// Supported: manual and autoscale throughput. 200 with x-ms-cosmos-min-throughput; 404.
// Differs from the service: the least throughput is always 400 RU/s, whatever the container holds or once had.

func (c *call) readOffer() (*result, *store.Error) {
	offer, err := c.h.cfg.Account.Offer(c.link.item)
	if err != nil {
		return nil, refused(err)
	}
	return offered(offer), nil
}

// leastThroughput is the floor that the service gives to an offer of little data.
const leastThroughput = "400"

func offered(offer store.Resource) *result {
	r := described(http.StatusOK, offer)
	r.set("x-ms-cosmos-min-throughput", leastThroughput)
	r.set("x-ms-offer-replace-pending", "false")
	return r
}
