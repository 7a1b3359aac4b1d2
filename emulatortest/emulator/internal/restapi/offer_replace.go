package restapi

import "github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"

// Replace offer: PUT /offers/{rid}
//
// Supported: other manual or autoscale throughput. 200; 400 outside the service's steps; 404; 412 when If-Match holds another etag.
// A container's ranges split until each has at most 10,000 request units a second.
// Members that the emulator does not know are kept. While a change is pending another is 400/3205.
// Differs from the service: the change and its splits are in force at once, also while it is called pending.

func (c *call) replaceOffer() (*result, *store.Error) {
	offer, err := c.h.cfg.Account.ReplaceOffer(c.link.item, c.body, c.precondition())
	if err != nil {
		return nil, refused(err)
	}
	if err := c.h.cfg.Account.Grow(offer.RID); err != nil {
		return nil, refused(err)
	}
	return offered(offer), nil
}
