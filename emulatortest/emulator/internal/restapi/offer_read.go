package restapi

import (
	"net/http"
	"strconv"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// Read offer: GET /offers/{rid}
//
// Supported: manual and autoscale throughput. 200 with x-ms-cosmos-min-throughput; 404.
// Differs from the service: the least throughput follows from the highest that the offer had, not from what the container holds.

func (c *call) readOffer() (*result, *store.Error) {
	offer, err := c.h.cfg.Account.Offer(c.link.item)
	if err != nil {
		return nil, refused(err)
	}
	return offered(offer), nil
}

func offered(offer store.Offer) *result {
	r := described(http.StatusOK, offer.Resource)
	r.set("x-ms-cosmos-min-throughput", strconv.Itoa(offer.Least))
	r.set("x-ms-offer-replace-pending", strconv.FormatBool(offer.Pending))
	return r
}
