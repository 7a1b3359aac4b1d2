package store

import (
	"encoding/json"
	"math"
	"slices"
)

// Throughput is what a create request asks for, in request units a second: at most one of the two. The zero value asks
// for nothing: a container then shares its database's offer or gets 400.
type Throughput struct{ Manual, AutoscaleMax int }

const (
	defaultThroughput = 400
	manualStep        = 100
	autoscaleStep     = 1000
	maxThroughput     = 1_000_000
	// partitionThroughput is what one physical partition serves, in request units a second.
	partitionThroughput = 10_000
	// autoscaleFloor is the share of the maximum that an idle autoscale offer provides.
	autoscaleFloor = 10
)

func (t Throughput) isZero() bool { return t == Throughput{} }

func (t Throughput) validate() error {
	switch {
	case t.Manual != 0 && t.AutoscaleMax != 0:
		return badRequest("Manual and autoscale throughput can't be set together: send one of x-ms-offer-throughput and x-ms-cosmos-offer-autopilot-settings.")
	case t.Manual != 0 && (t.Manual < defaultThroughput || t.Manual > maxThroughput || t.Manual%manualStep != 0):
		return badRequest("The offer should have valid throughput values between %d and %d inclusive in increments of %d.", defaultThroughput, maxThroughput, manualStep)
	case t.AutoscaleMax != 0 && (t.AutoscaleMax < autoscaleStep || t.AutoscaleMax > maxThroughput || t.AutoscaleMax%autoscaleStep != 0):
		return badRequest("The maximum of an autoscale offer should be between %d and %d inclusive in increments of %d.", autoscaleStep, maxThroughput, autoscaleStep)
	}
	return nil
}

// unitsPerSecond is the rate at which a client is throttled.
func (t Throughput) unitsPerSecond() float64 { return float64(max(t.Manual, t.AutoscaleMax)) }

// partitions is how many physical partitions the service needs to serve the throughput.
func (t Throughput) partitions() int {
	return (max(t.Manual, t.AutoscaleMax) + partitionThroughput - 1) / partitionThroughput
}

type offer struct {
	serial     uint32
	resource   Resource
	target     string // the rid of the database or container
	targetSelf string
	throughput Throughput
	budget     *budget
}

// offerBody is an offer's JSON, in the order of members that the service uses.
type offerBody struct {
	Resource        string       `json:"resource"`
	OfferType       string       `json:"offerType"`
	OfferResourceID string       `json:"offerResourceId"`
	OfferVersion    string       `json:"offerVersion"`
	Content         offerContent `json:"content"`
	ID              string       `json:"id"`
}

type offerContent struct {
	OfferThroughput        int             `json:"offerThroughput"`
	RUPerMinute            *bool           `json:"offerIsRUPerMinuteThroughputEnabled,omitempty"`
	OfferAutopilotSettings *offerAutoPilot `json:"offerAutopilotSettings,omitempty"`
}

type offerAutoPilot struct {
	Tier                  int             `json:"tier"`
	MaximumTierThroughput int             `json:"maximumTierThroughput"`
	AutoUpgrade           bool            `json:"autoUpgrade"`
	AutoUpgradePolicy     json.RawMessage `json:"autoUpgradePolicy,omitempty"`
	MaxThroughput         int             `json:"maxThroughput"`
}

// render writes the offer's resource; version makes its etag.
func (o *offer) render(a *Account, version uint32, upgrade json.RawMessage) error {
	rid := offerRID(o.serial)
	b := offerBody{Resource: o.targetSelf, OfferType: "Invalid", OfferResourceID: o.target, OfferVersion: "V2", ID: rid}
	if top := o.throughput.AutoscaleMax; top > 0 {
		b.Content.OfferThroughput = top / autoscaleFloor
		b.Content.OfferAutopilotSettings = &offerAutoPilot{MaximumTierThroughput: top, AutoUpgradePolicy: upgrade, MaxThroughput: top}
	} else {
		off := false
		b.Content.OfferThroughput, b.Content.RUPerMinute = o.throughput.Manual, &off
	}
	text, err := json.Marshal(b)
	if err != nil {
		return badRequest("%s", textInvalidInput)
	}
	o.resource = describe(&node{raw: text}, rid, rid, "offers/"+rid+"/", uint64(version), a.now())
	return nil
}

// addOffer needs a.mu.
func (a *Account) addOffer(target Resource, t Throughput) []Mutation {
	serial, counter := a.nextSerial()
	o := &offer{serial: serial, target: target.RID, targetSelf: target.Self, throughput: t, budget: &budget{}}
	if err := o.render(a, serial, nil); err != nil {
		return nil
	}
	a.offers = append(a.offers, o)
	return []Mutation{counter, o.mutation()}
}

func (o *offer) mutation() Mutation {
	return Mutation{Key: keyOffer + o.resource.RID, Value: encodeResource(o.serial, o.resource)}
}

// dropOffer needs a.mu.
func (a *Account) dropOffer(target Resource) []Mutation {
	i := slices.IndexFunc(a.offers, func(o *offer) bool { return o.target == target.RID })
	if i < 0 {
		return nil
	}
	rid := a.offers[i].resource.RID
	a.offers = slices.Delete(a.offers, i, i+1)
	return []Mutation{{Key: keyOffer + rid}}
}

// Offers lists the offers in the order of their creation.
func (a *Account) Offers() []Resource {
	a.mu.RLock()
	defer a.mu.RUnlock()
	out := make([]Resource, 0, len(a.offers))
	for _, o := range a.offers {
		out = append(out, o.resource)
	}
	return out
}

// Offer finds an offer by its rid (404).
func (a *Account) Offer(rid string) (Resource, error) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if i := a.offerIndex(rid); i >= 0 {
		return a.offers[i].resource, nil
	}
	return Resource{}, notFound()
}

func (a *Account) offerIndex(rid string) int {
	return slices.IndexFunc(a.offers, func(o *offer) bool { return o.resource.RID == rid })
}

// ReplaceOffer changes provisioned throughput (400, 404, 412). It takes effect at once.
func (a *Account) ReplaceOffer(rid string, body []byte, p Precondition) (Resource, error) {
	t, upgrade, err := parseOffer(body)
	if err != nil {
		return Resource{}, err
	}
	a.mu.Lock()
	i := a.offerIndex(rid)
	if i < 0 {
		a.mu.Unlock()
		return Resource{}, notFound()
	}
	o := a.offers[i]
	if err := p.check(o.resource.ETag); err != nil {
		a.mu.Unlock()
		return Resource{}, err
	}
	changed := *o
	changed.throughput = t
	version, counter := a.nextSerial()
	if err := changed.render(a, version, upgrade); err != nil {
		a.mu.Unlock()
		return Resource{}, err
	}
	*o = changed
	wait := a.record(counter, o.mutation())
	a.mu.Unlock()
	return changed.resource, await(wait)
}

// parseOffer reads an offer's content: autoscale wins when both are there, since clients send offerThroughput beside it.
func parseOffer(body []byte) (Throughput, json.RawMessage, error) {
	var b struct {
		Content *struct {
			OfferThroughput        *float64 `json:"offerThroughput"`
			OfferAutopilotSettings *struct {
				MaxThroughput     float64         `json:"maxThroughput"`
				AutoUpgradePolicy json.RawMessage `json:"autoUpgradePolicy"`
			} `json:"offerAutopilotSettings"`
		} `json:"content"`
	}
	if err := json.Unmarshal(body, &b); err != nil || b.Content == nil {
		return Throughput{}, nil, badRequest("The offer has no valid content: send content.offerThroughput or content.offerAutopilotSettings.maxThroughput.")
	}
	var t Throughput
	var upgrade json.RawMessage
	if s := b.Content.OfferAutopilotSettings; s != nil {
		t.AutoscaleMax, upgrade = wholeUnits(s.MaxThroughput), s.AutoUpgradePolicy
	} else if b.Content.OfferThroughput != nil {
		t.Manual = wholeUnits(*b.Content.OfferThroughput)
	}
	if t.isZero() {
		t.Manual = -1
	}
	return t, upgrade, t.validate()
}

// wholeUnits turns a fraction into a number that validate refuses.
func wholeUnits(f float64) int {
	if f != math.Trunc(f) || math.Abs(f) > math.MaxInt32 {
		return -1
	}
	return int(f)
}

// hasOffer needs a.mu.
func (a *Account) hasOffer(target string) bool {
	return slices.ContainsFunc(a.offers, func(o *offer) bool { return o.target == target })
}
