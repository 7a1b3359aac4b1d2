package store

import (
	"math"
	"math/bits"
)

// The request charges are a model, not a measurement. It is the one that the Cosmos DB team publishes in its Rust
// repository (ru_model.rs of the in-memory emulator): a constant per kind of request times the item's size in KB,
// rounded up to a power of two, and a share for each top-level property, which stands for the default index over
// everything. Reads of 1 KB cost 1 RU, as the service's documentation says; its sample inserts, with few indexed paths,
// come out a little lower than here.
//
// Points charge in point.go and the change feed in feed.go; of queries package restapi takes what
// RequestChargeQuery here says, and of refused requests RequestChargeRefused; a batch adds up in batch.go; throttle.go takes it from the container's throughput.
const (
	chargeReadUnit    = 1.0
	chargeCreateUnit  = 5.8
	chargeReplaceUnit = 8.7
	chargeProperty    = 0.3
	// chargeMiss is for a point read that finds nothing, chargeRefused for a write that changes nothing.
	chargeMiss    = 1.0
	chargeRefused = 1.24
	// A query pays a floor for every partition that it visits and 1 RU for each KB that it loads.
	chargeQueryFloor = 2.27
	chargeQueryKB    = 1.0
)

// RequestChargeRefused is the charge of a request that was refused as malformed, in request units; of any other refusal
// that costs something it is RequestChargeMiss.
const (
	RequestChargeRefused = chargeRefused
	RequestChargeMiss    = chargeMiss
)

// RequestChargeMetadata is the charge of a request on databases, containers, offers and ranges, in request units.
const RequestChargeMetadata = 2.0

// sizeFactor is the size in KB, rounded up to the next power of two and at least one.
func sizeFactor(bytes int) float64 {
	kb := (bytes + 1023) / 1024
	if kb <= 1 {
		return 1
	}
	return float64(uint64(1) << bits.Len(uint(kb-1)))
}

func chargeRead(it *item) float64 { return chargeReadUnit * sizeFactor(len(it.raw)) }

func chargeCreate(it *item) float64 { return chargeWrite(chargeCreateUnit, it) }

// chargeChange is for replace, patch and delete.
func chargeChange(it *item) float64 { return chargeWrite(chargeReplaceUnit, it) }

func chargeWrite(unit float64, it *item) float64 {
	charge := unit * sizeFactor(len(it.raw))
	if !it.unindexed {
		charge += chargeProperty * float64(it.properties)
	}
	return round2(charge)
}

// RequestChargeQuery is the charge of one query page in request units: partitions visited, documents and bytes loaded.
func RequestChargeQuery(partitions, documents, bytes int) float64 {
	loaded := max(float64(bytes)/1024, float64(documents)/100)
	return round2(chargeQueryFloor*float64(max(partitions, 1)) + chargeQueryKB*loaded)
}

// chargeFeed is for a page of the change feed: 1 RU for asking and what reading the items costs.
func chargeFeed(bytes int) float64 { return round2(1 + chargeReadUnit*float64(bytes)/1024) }

func round2(f float64) float64 { return math.Round(f*100) / 100 }
