package restapi

import "github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"

// List offers: GET /offers
//
// Supported: all offers in the order of their creation, in pages of x-ms-max-item-count.
// Differs from the service: without x-ms-max-item-count the page holds them all.

func (c *call) listOffers() (*result, *store.Error) {
	return c.listed("", "Offers", bodiesOf(c.h.cfg.Account.Offers()))
}
