package store

import (
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// Throughput is what a create request asks for, in request units a second: at most one of the two. The zero value asks
// for nothing: a container then shares its database's offer or gets 400.
type Throughput struct {
	Manual, AutoscaleMax int
	// Settings is the autoscale setting as JSON, with whatever else the client put there.
	Settings string
}

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

// highest is the throughput of either kind.
func (t Throughput) highest() int { return max(t.Manual, t.AutoscaleMax) }

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
	// highest is the most that the offer ever had, which bounds how low it may go.
	highest int
	// pendingUntil is when the last change is over; until then there can be no other.
	pendingUntil time.Time
}

// Offer is the throughput of a database or container as a client sees it.
type Offer struct {
	Resource
	// Least is the lowest throughput that it may get, in its own kind: manual, or the maximum of autoscale.
	Least int
	// Pending reports that the last change is not over.
	Pending bool
}

// The share of the highest throughput ever below which an offer can't go, by kind.
const (
	manualFloor    = 100
	autoscaleShare = 10
)

// least is the lowest value of a kind of throughput that the service allows, given the highest one that was.
func least(highest int, autoscale bool) int {
	if autoscale {
		return max(autoscaleStep, roundUp(highest/autoscaleShare, autoscaleStep))
	}
	return max(defaultThroughput, roundUp(highest/manualFloor, manualStep))
}

func roundUp(n, step int) int { return (n + step - 1) / step * step }

// describe needs a.mu.
func (o *offer) describe(now time.Time) Offer {
	return Offer{Resource: o.resource, Least: least(o.highest, o.throughput.AutoscaleMax > 0), Pending: now.Before(o.pendingUntil)}
}

// render writes the offer's resource over what the client sent, whose unknown members stay; version makes its etag.
func (o *offer) render(a *Account, version uint32, sent *node) error {
	rid := offerRID(o.serial)
	content := sent.get("content")
	if content == nil || !content.isObject() {
		content = &node{raw: []byte("{}")}
	}
	if err := o.throughput.write(content); err != nil {
		return err
	}
	sent.set("resource", stringNode(o.targetSelf))
	sent.setDefault("offerType", `"Invalid"`)
	sent.set("offerResourceId", stringNode(o.target))
	sent.set("offerVersion", stringNode("V2"))
	sent.set("content", content)
	sent.set("id", stringNode(rid))
	o.resource = describe(sent, rid, rid, "offers/"+rid+"/", uint64(version), a.now())
	return nil
}

// write sets what is known of an offer's content.
func (t Throughput) write(content *node) error {
	number := func(n int) *node { return leaf(strconv.Itoa(n)) }
	if t.AutoscaleMax == 0 {
		content.set("offerThroughput", number(t.Manual))
		content.setDefault("offerIsRUPerMinuteThroughputEnabled", "false")
		content.remove("offerAutopilotSettings")
		return nil
	}
	content.set("offerThroughput", number(t.AutoscaleMax/autoscaleFloor))
	settings := content.get("offerAutopilotSettings")
	if t.Settings != "" {
		parsed, _, err := parseNode([]byte(t.Settings))
		if err != nil {
			return badRequest("The autoscale settings are not JSON: %v.", err)
		}
		settings = parsed
	}
	if settings == nil || !settings.isObject() {
		settings = &node{raw: []byte("{}")}
	}
	settings.setDefault("tier", "0")
	settings.set("maximumTierThroughput", number(t.AutoscaleMax))
	settings.setDefault("autoUpgrade", "false")
	settings.set("maxThroughput", number(t.AutoscaleMax))
	content.set("offerAutopilotSettings", settings)
	return nil
}

// addOffer needs a.mu.
func (a *Account) addOffer(target Resource, t Throughput) []Mutation {
	serial, counter := a.nextSerial()
	o := &offer{serial: serial, target: target.RID, targetSelf: target.Self, throughput: t, budget: &budget{}, highest: t.highest()}
	if err := o.render(a, serial, &node{raw: []byte("{}")}); err != nil {
		return nil
	}
	a.offers = append(a.offers, o)
	return []Mutation{counter, o.mutation()}
}

func (o *offer) mutation() Mutation {
	return Mutation{Key: keyOffer + o.resource.RID, Value: encodeOffer(o)}
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
func (a *Account) Offer(rid string) (Offer, error) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if i := a.offerIndex(rid); i >= 0 {
		return a.offers[i].describe(a.now()), nil
	}
	return Offer{}, notFound()
}

func (a *Account) offerIndex(rid string) int {
	return slices.IndexFunc(a.offers, func(o *offer) bool { return o.resource.RID == rid })
}

// ReplaceOffer changes provisioned throughput (400, 400/3205, 404, 412). It takes effect at once, and is pending for as long as
// [Options.OfferReplaceTime] says.
func (a *Account) ReplaceOffer(rid string, body []byte, p Precondition) (Offer, error) {
	t, sent, err := parseOffer(body)
	if err != nil {
		return Offer{}, err
	}
	a.mu.Lock()
	replaced, wait, err := a.replaceOffer(rid, t, sent, p)
	a.mu.Unlock()
	if err != nil {
		return Offer{}, err
	}
	return replaced, await(wait)
}

// replaceOffer needs a.mu.
func (a *Account) replaceOffer(rid string, t Throughput, sent *node, p Precondition) (Offer, func() error, error) {
	i := a.offerIndex(rid)
	if i < 0 {
		return Offer{}, nil, notFound()
	}
	o, now := a.offers[i], a.now()
	if err := p.check(o.resource.ETag); err != nil {
		return Offer{}, nil, err
	}
	if now.Before(o.pendingUntil) {
		return Offer{}, nil, refuse(http.StatusBadRequest, SubstatusOfferReplaceInProgress,
			"The offer can't be replaced while an earlier replacement is in progress. Wait until x-ms-offer-replace-pending is false.")
	}
	if floor := least(o.highest, t.AutoscaleMax > 0); t.highest() < floor {
		return Offer{}, nil, badRequest("The offer should have valid throughput values between %d and %d inclusive: it can't go lower after the "+
			"throughput that it had.", floor, maxThroughput)
	}
	changed := *o
	changed.throughput, changed.highest = t, max(o.highest, t.highest())
	changed.pendingUntil = now.Add(a.opts.OfferReplaceTime)
	if content := sent.get("content"); content != nil && content.isObject() {
		content.set("offerLastReplaceTimestamp", leaf(strconv.FormatInt(now.Unix(), 10)))
	}
	version, counter := a.nextSerial()
	if err := changed.render(a, version, sent); err != nil {
		return Offer{}, nil, err
	}
	*o = changed
	return o.describe(now), a.record(counter, o.mutation()), nil
}

// parseOffer reads an offer's content: autoscale wins when both are there, since clients send offerThroughput beside it.
func parseOffer(body []byte) (Throughput, *node, error) {
	var b struct {
		Content *struct {
			OfferThroughput        *float64 `json:"offerThroughput"`
			OfferAutopilotSettings *struct {
				MaxThroughput float64 `json:"maxThroughput"`
			} `json:"offerAutopilotSettings"`
		} `json:"content"`
	}
	if err := json.Unmarshal(body, &b); err != nil || b.Content == nil {
		return Throughput{}, nil, badRequest("The offer has no valid content: send content.offerThroughput or content.offerAutopilotSettings.maxThroughput.")
	}
	sent, _, err := parseNode(body)
	if err != nil {
		return Throughput{}, nil, badRequest("The request body is not an offer: %v.", err)
	}
	var t Throughput
	if s := b.Content.OfferAutopilotSettings; s != nil {
		t.AutoscaleMax = wholeUnits(s.MaxThroughput)
	} else if b.Content.OfferThroughput != nil {
		t.Manual = wholeUnits(*b.Content.OfferThroughput)
	}
	if t.isZero() {
		t.Manual = -1
	}
	return t, sent, t.validate()
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
