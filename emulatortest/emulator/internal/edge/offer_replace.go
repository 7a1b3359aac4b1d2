package edge

import "github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"

// Replace offer: PUT /offers/{rid}
//
// Supported: other manual or autoscale throughput. 200; 400 outside the service's steps; 404; 412 when If-Match holds another etag.
// Differs from the service: the change is in force at once and never pending, so that 3205 does not happen.

func (c *call) replaceOffer() (*result, *store.Error) {
	offer, err := c.h.cfg.Account.ReplaceOffer(c.link.item, c.body, c.precondition())
	if err != nil {
		return nil, refused(err)
	}
	return offered(offer), nil
}
