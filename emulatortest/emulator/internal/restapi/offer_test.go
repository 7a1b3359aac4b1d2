package restapi

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// offerOf finds the offer of the only container that has one of its own.
func (b *bundle) offerOf(t *testing.T, id string) string {
	t.Helper()
	var container struct {
		RID string `json:"_rid"`
	}
	if err := json.Unmarshal(b.do(t, "GET", "/dbs/db/colls/"+id, "").Body, &container); err != nil {
		t.Fatal(err)
	}
	var page struct {
		Offers []struct{ ID, OfferResourceID string }
	}
	a := b.do(t, "POST", "/offers", `{"query":"SELECT * FROM c WHERE c.offerResourceId = '`+container.RID+`'"}`, "Content-Type", "application/query+json")
	if err := json.Unmarshal(a.Body, &page); err != nil || len(page.Offers) != 1 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	return "/offers/" + page.Offers[0].ID
}

func contentOf(t *testing.T, a *Answer) map[string]any {
	t.Helper()
	var offer map[string]any
	if err := json.Unmarshal(a.Body, &offer); err != nil {
		t.Fatal(err)
	}
	content, ok := offer["content"].(map[string]any)
	if !ok {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	return content
}

// What a client reads, changes and writes comes back with everything in it that the emulator doesn't know.
func TestOffersKeepWhatIsUnknown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := b.offerOf(t, "items")
	a := b.do(t, "PUT", path, `{"content":{"offerThroughput":600,"offerMinimumThroughputParameters":{"a":[1]},"new":null},"more":{"x":1}}`)
	var offer map[string]any
	if err := json.Unmarshal(a.Body, &offer); err != nil || a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	content := contentOf(t, a)
	if _, ok := content["new"]; !ok || content["offerThroughput"] != 600.0 || content["offerMinimumThroughputParameters"] == nil || offer["more"] == nil {
		t.Errorf("%s", a.Body)
	}
	if content["offerLastReplaceTimestamp"] == nil || offer["offerType"] != "Invalid" || offer["offerVersion"] != "V2" || offer["resource"] == nil {
		t.Errorf("%s", a.Body)
	}
	a = b.do(t, "PUT", path, `{"content":{"offerThroughput":600,"offerAutopilotSettings":{"maxThroughput":4000,"autoUpgradePolicy":{"throughputPolicy":{"incrementPercent":1}},"new":1}}}`)
	settings, _ := contentOf(t, a)["offerAutopilotSettings"].(map[string]any)
	if a.Status != 200 || settings["new"] != 1.0 || settings["autoUpgradePolicy"] == nil || settings["maxThroughput"] != 4000.0 || contentOf(t, a)["offerThroughput"] != 400.0 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if a = b.do(t, "PUT", path, `{"content":{"offerThroughput":500,"offerAutopilotSettings":null}}`); contentOf(t, a)["offerAutopilotSettings"] != nil {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

func TestAutoscaleSettingsOfACreateAreKept(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.do(t, "POST", "/dbs/db/colls", `{"id":"scaled","partitionKey":{"paths":["/pk"]}}`,
		"x-ms-cosmos-offer-autopilot-settings", `{"maxThroughput":5000,"autoUpgradePolicy":{"throughputPolicy":{"incrementPercent":10}}}`)
	a := b.do(t, "GET", b.offerOf(t, "scaled"), "")
	settings, _ := contentOf(t, a)["offerAutopilotSettings"].(map[string]any)
	if settings["maxThroughput"] != 5000.0 || settings["autoUpgradePolicy"] == nil || a.Header.Get("x-ms-cosmos-min-throughput") != "1000" {
		t.Errorf("%s, at least %s", a.Body, a.Header.Get("x-ms-cosmos-min-throughput"))
	}
}

// An offer can't go below a share of the highest throughput that it had.
func TestOffersHaveAFloor(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := b.offerOf(t, "items")
	for _, c := range []struct {
		content string
		status  int
		least   string
	}{
		{`{"offerThroughput":50000}`, 200, "500"},
		{`{"offerThroughput":400}`, 400, ""},
		{`{"offerThroughput":500}`, 200, "500"},
		{`{"offerAutopilotSettings":{"maxThroughput":4000}}`, 400, ""},
		{`{"offerAutopilotSettings":{"maxThroughput":5000}}`, 200, "5000"},
		{`{"offerAutopilotSettings":{"maxThroughput":5500}}`, 400, ""},
		{`{"offerAutopilotSettings":{"maxThroughput":500}}`, 400, ""},
		{`{"offerAutopilotSettings":{"maxThroughput":2000000}}`, 400, ""},
		{`{"offerAutopilotSettings":{}}`, 400, ""},
	} {
		a := b.do(t, "PUT", path, `{"content":`+c.content+`}`)
		if a.Status != c.status || a.Status == 200 && a.Header.Get("x-ms-cosmos-min-throughput") != c.least {
			t.Errorf("%s: %d, at least %s; want %d and %s", c.content, a.Status, a.Header.Get("x-ms-cosmos-min-throughput"), c.status, c.least)
		}
	}
}

func TestAReplacementIsPending(t *testing.T) {
	t.Parallel()
	b := setup(t)
	now := time.Now()
	account := store.New(store.Options{Now: func() time.Time { return now }, OfferReplaceTime: time.Minute})
	b.h.cfg.Account = account
	b.do(t, "POST", "/dbs", `{"id":"db"}`)
	b.do(t, "POST", "/dbs/db/colls", `{"id":"items","partitionKey":{"paths":["/pk"]}}`)
	path := b.offerOf(t, "items")
	pending := func(want string) {
		t.Helper()
		if got := b.do(t, "GET", path, "").Header.Get("x-ms-offer-replace-pending"); got != want {
			t.Errorf("pending: %s, want %s", got, want)
		}
	}
	pending("false")
	if a := b.do(t, "PUT", path, `{"content":{"offerThroughput":500}}`); a.Status != 200 || a.Header.Get("x-ms-offer-replace-pending") != "true" {
		t.Errorf("%d %s", a.Status, a.Header.Get("x-ms-offer-replace-pending"))
	}
	pending("true")
	if a := b.do(t, "PUT", path, `{"content":{"offerThroughput":600}}`); a.Status != 400 || a.Header.Get("x-ms-substatus") != "3205" {
		t.Errorf("a second replacement: %d/%s", a.Status, a.Header.Get("x-ms-substatus"))
	}
	now = now.Add(time.Minute)
	pending("false")
	if a := b.do(t, "PUT", path, `{"content":{"offerThroughput":600}}`); a.Status != 200 {
		t.Errorf("a replacement after the first is over: %d %s", a.Status, a.Body)
	}
}
