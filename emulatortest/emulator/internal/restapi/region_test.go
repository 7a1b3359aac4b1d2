package restapi

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"
)

// regional is the usual bundle with regions; at gives it as a client of one of them.
func regional(t *testing.T, multiple, lags bool) *bundle {
	t.Helper()
	b := setup(t)
	b.h.cfg.Regions = NewRegions([]string{"East US", "West Europe"}, multiple, lags)
	return b
}

func (b *bundle) at(host string) *bundle {
	other := *b
	other.host = host
	return &other
}

const (
	east = "emulator-eastus.test"
	west = "emulator-westeurope.test"
)

func account(t *testing.T, b *bundle) (a struct {
	ID                           string
	WritableLocations            []accountLocation
	ReadableLocations            []accountLocation
	EnableMultipleWriteLocations bool
	ETag                         *string `json:"_etag"`
},
) {
	t.Helper()
	if err := json.Unmarshal(b.do(t, "GET", "/", "").Body, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestTheAccountNamesItsRegions(t *testing.T) {
	t.Parallel()
	for _, multiple := range []bool{false, true} {
		b := regional(t, multiple, false)
		all := []accountLocation{{"East US", "http://" + east + "/"}, {"West Europe", "http://" + west + "/"}}
		for host, id := range map[string]string{"": "grove-emulator", east: "grove-emulator-eastus", west: "grove-emulator-westeurope"} {
			a := account(t, b.at(host))
			writable := all[:1]
			if multiple {
				writable = all
			}
			if a.ID != id || !slices.Equal(a.ReadableLocations, all) || !slices.Equal(a.WritableLocations, writable) ||
				a.EnableMultipleWriteLocations != multiple || a.ETag != nil {
				t.Errorf("at %q with multiple %v: %+v", host, multiple, a)
			}
		}
	}
	b := setup(t)
	if a := account(t, b); len(a.ReadableLocations) != 1 || a.ReadableLocations[0] != (accountLocation{DefaultRegion, "http://emulator.test/"}) {
		t.Errorf("one region: %+v", a)
	}
}

func TestHostsOfRegions(t *testing.T) {
	t.Parallel()
	r := NewRegions([]string{"East US", "East US 2"}, false, false)
	for _, c := range []struct{ account, region, host string }{
		{"abc.emulator.localhost", "East US", "abc-eastus.emulator.localhost"},
		{"abc.emulator.localhost:8081", "East US 2", "abc-eastus2.emulator.localhost:8081"},
		{"127.0.0.1:8081", "East US", "eastus.localhost:8081"},
		{"127.0.0.1", "East US 2", "eastus2.localhost"},
	} {
		if got := regionalHost(c.account, c.region); got != c.host {
			t.Errorf("%s of %s: %s, want %s", c.region, c.account, got, c.host)
		}
		if account, name, _ := r.locate(c.host); account != c.account || name != c.region {
			t.Errorf("%s leads to %q of %s", c.host, name, account)
		}
		if account, name, _ := r.locate(c.account); account != c.account || name != "" {
			t.Errorf("%s leads to %q of %s", c.account, name, account)
		}
	}
}

// Where one region takes the writes the others refuse them, and a failover changes which.
func TestWritesGoToTheHub(t *testing.T) {
	t.Parallel()
	b := regional(t, false, false)
	const docs = "/dbs/db/colls/items/docs"
	n := 0
	write := func(host string) string {
		n++
		id := fmt.Sprint(n)
		a := b.at(host).do(t, "POST", docs, `{"id":"`+id+`","pk":"a"}`, keyHeader, `["a"]`, "x-ms-cosmos-allow-tentative-writes", "true")
		return fmt.Sprint(a.Status, "/", a.Header.Get("x-ms-substatus"))
	}
	for host, want := range map[string]string{"": "201/", east: "201/", west: "403/3"} {
		if got := write(host); got != want {
			t.Errorf("a write at %q: %s, want %s", host, got, want)
		}
	}
	if a := b.at(west).do(t, "GET", docs, "", keyHeader, `["a"]`); a.Status != 200 {
		t.Errorf("a read in the other region: %d", a.Status)
	}
	if a := b.at(west).do(t, "POST", "/dbs", `{"id":"x"}`); a.Status != 403 || a.Header.Get("x-ms-substatus") != "3" {
		t.Errorf("a database made in the other region: %d", a.Status)
	}
	if !b.h.cfg.Regions.Failover("West Europe") || b.h.cfg.Regions.Failover("Mars") {
		t.Error("the failover")
	}
	for host, want := range map[string]string{"": "201/", east: "403/3", west: "201/"} {
		if got := write(host); got != want {
			t.Errorf("a write at %q after the failover: %s, want %s", host, got, want)
		}
	}
	if a := account(t, b); a.WritableLocations[0].Name != "West Europe" {
		t.Errorf("after the failover: %+v", a)
	}
	if !b.h.cfg.Regions.Remove("East US") || b.h.cfg.Regions.Remove("West Europe") {
		t.Error("the removal")
	}
	if got := write(east); got != "403/1008" {
		t.Errorf("a write in a region that is gone: %s", got)
	}
	if a := b.at(east).do(t, "GET", docs, "", keyHeader, `["a"]`); a.Header.Get("x-ms-substatus") != "1008" {
		t.Errorf("a read in a region that is gone: %d/%s", a.Status, a.Header.Get("x-ms-substatus"))
	}
}

func TestSeveralRegionsTakeTentativeWrites(t *testing.T) {
	t.Parallel()
	b := regional(t, true, false)
	const docs = "/dbs/db/colls/items/docs"
	tentative := []string{"x-ms-cosmos-allow-tentative-writes", "true"}
	for i, c := range []struct {
		host    string
		headers []string
		want    string
	}{{west, nil, "403/3"}, {west, tentative, "201/"}, {east, nil, "201/"}, {"", nil, "201/"}} {
		a := b.at(c.host).do(t, "POST", docs, fmt.Sprintf(`{"id":"%d","pk":"a"}`, i), append(c.headers, keyHeader, `["a"]`)...)
		if got := fmt.Sprint(a.Status, "/", a.Header.Get("x-ms-substatus")); got != c.want {
			t.Errorf("%s with %v: %s, want %s", c.host, c.headers, got, c.want)
		}
	}
	if a := b.at(west).do(t, "POST", "/dbs", `{"id":"x"}`, tentative...); a.Header.Get("x-ms-substatus") != "3" {
		t.Errorf("a database made beside the hub: %d", a.Status)
	}
	const custom = `{"id":"x","partitionKey":{"paths":["/pk"]},"conflictResolutionPolicy":{"mode":"Custom"}}`
	if a := b.do(t, "POST", "/dbs/db/colls", custom); a.Status != 501 {
		t.Errorf("custom conflict resolution: %d", a.Status)
	}
	if a := setup(t).do(t, "POST", "/dbs/db/colls", custom); a.Status != 201 {
		t.Errorf("custom conflict resolution with one write region: %d", a.Status)
	}
}

// A region beside the hub shows what has arrived there, and says so to a session that has seen more; the hub is up to date.
func TestOtherRegionsAreBehind(t *testing.T) {
	t.Parallel()
	b := regional(t, false, true)
	b.account.SetReplicaLag(-time.Second) // holds replicas where they are
	const docs, item = "/dbs/db/colls/items/docs", "/dbs/db/colls/items/docs/1"
	token := b.do(t, "POST", docs, `{"id":"1","pk":"a"}`, keyHeader, `["a"]`).Header.Get(sessionHeader)
	query := []string{"Content-Type", "application/query+json", keyHeader, `["a"]`}
	for host, want := range map[string][3]string{"": {"200/", "200/", "200/1"}, east: {"200/", "200/", "200/1"}, west: {"404/", "404/1002", "200/0"}} {
		var got [3]string
		a := b.at(host).do(t, "GET", item, "", keyHeader, `["a"]`)
		got[0] = fmt.Sprint(a.Status, "/", a.Header.Get("x-ms-substatus"))
		a = b.at(host).do(t, "GET", item, "", keyHeader, `["a"]`, sessionHeader, token)
		got[1] = fmt.Sprint(a.Status, "/", a.Header.Get("x-ms-substatus"))
		a = b.at(host).do(t, "POST", docs, `{"query":"SELECT * FROM c"}`, query...)
		got[2] = fmt.Sprint(a.Status, "/", a.Header.Get("x-ms-item-count"))
		if got != want {
			t.Errorf("at %q: %v, want %v", host, got, want)
		}
	}
}
