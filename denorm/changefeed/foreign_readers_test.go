package changefeed_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// Two programs read leases that they did not write: KEDA's scaler for Cosmos DB
// (kedacore/keda, pkg/scalers/azure_cosmosdb_scaler.go), which decides by them
// how many instances there should be, and the estimator of the SDK for .NET
// (Azure/azure-cosmos-dotnet-v3, GetLeasePrefix and DocumentServiceLeaseCoreEpk).
// What they ask for, and what they take for a lease, is written down here.

// scalerLease is what the scaler reads of a lease.
type scalerLease struct {
	ID         string  `json:"id"`
	Version    int     `json:"version"`
	LeaseToken string  `json:"LeaseToken"`
	Owner      *string `json:"Owner"`
	FeedRange  *struct {
		Range struct {
			Min string `json:"min"`
			Max string `json:"max"`
		} `json:"Range"`
	} `json:"FeedRange"`
	ContinuationToken string `json:"ContinuationToken"`
}

var upperHex = regexp.MustCompile(`^[0-9A-F]*$`)

func (b *testBundle) leasesWith(prefix string) [][]byte {
	b.t.Helper()
	return b.find(b.leases, "SELECT * FROM c WHERE STARTSWITH(c.id, @prefix)", azcosmos.QueryParameter{Name: "@prefix", Value: prefix})
}

// scaler finds leases as KEDA does, and the changes that are waiting in each.
func (b *testBundle) scaler(name string) (lag map[string]int64) {
	b.t.Helper()
	endpoint, err := url.Parse(b.client.Endpoint())
	if err != nil {
		b.t.Fatal(err)
	}
	account, _, _ := strings.Cut(endpoint.Hostname(), ".")
	lag = map[string]int64{}
	for _, raw := range b.leasesWith(name + account + ".") {
		var l scalerLease
		if err := json.Unmarshal(raw, &l); err != nil {
			b.t.Fatalf("a lease that the scaler can't read: %v", err)
		}
		if l.LeaseToken == "" {
			continue
		}
		if l.Version != 1 || l.FeedRange == nil {
			b.t.Fatalf("a lease of version %d, or without a range", l.Version)
		}
		low, high := l.FeedRange.Range.Min, l.FeedRange.Range.Max
		if !upperHex.MatchString(low) || !upperHex.MatchString(high) || high > "FF" || low >= high {
			b.t.Fatalf("bounds %q and %q", low, high)
		}
		if l.ContinuationToken != "" && !strings.HasPrefix(l.ContinuationToken, `"`) {
			b.t.Fatalf("the continuation %q would be taken for base64", l.ContinuationToken)
		}
		lag[l.LeaseToken] = b.waiting(low, high, l.ContinuationToken)
	}
	return lag
}

// waiting compares LSNs, with one read of one change for each partition.
func (b *testBundle) waiting(low, high, continuation string) (total int64) {
	b.t.Helper()
	for _, r := range b.emu.Ranges(database, monitored) {
		from, to := max(low, r.MinInclusive), min(high, r.MaxExclusive)
		if epk.Compare(from, to) >= 0 {
			continue
		}
		header := http.Header{}
		if epk.Compare(from, r.MinInclusive) != 0 || epk.Compare(to, r.MaxExclusive) != 0 {
			if from == "" {
				from = "00"
			}
			header.Set("X-Ms-Start-Epk", from)
			header.Set("X-Ms-End-Epk", to)
			header.Set("X-Ms-Read-Key-Type", "EffectivePartitionKeyRange")
		}
		if continuation != "" {
			header.Set("If-None-Match", continuation)
		}
		feed := azcosmos.FeedRange{MinInclusive: r.MinInclusive, MaxExclusive: r.MaxExclusive}
		resp, err := b.items.ReadChangeFeed(policy.WithHTTPHeader(b.t.Context(), header), &azcosmos.ChangeFeedOptions{FeedRange: &feed, MaxItemCount: 1})
		if err != nil {
			b.t.Fatal(err)
		}
		if len(resp.Items) == 0 {
			continue
		}
		var change struct {
			LSN int64 `json:"_lsn"`
		}
		if err := json.Unmarshal(resp.Items[0], &change); err != nil {
			b.t.Fatal(err)
		}
		_, session, _ := strings.Cut(resp.RawResponse.Header.Get("x-ms-session-token"), "#")
		head, err := strconv.ParseInt(session, 10, 64)
		if err != nil {
			b.t.Fatal(err)
		}
		total += head - change.LSN + 1
	}
	return total
}

// estimatorLease is what the SDK for .NET reads of a lease, by its types.
type estimatorLease struct {
	ID           string `json:"id"`
	PartitionKey string `json:"partitionKey"`
	Version      int    `json:"version"`
	ETag         string `json:"_etag"`
	LeaseToken   string `json:"LeaseToken"`
	FeedRange    struct {
		Range struct {
			Min            string `json:"min"`
			Max            string `json:"max"`
			IsMinInclusive bool   `json:"isMinInclusive"`
			IsMaxInclusive bool   `json:"isMaxInclusive"`
		} `json:"Range"`
	} `json:"FeedRange"`
	Owner             *string           `json:"Owner"`
	ContinuationToken *string           `json:"ContinuationToken"`
	Properties        map[string]string `json:"properties"`
	Mode              string            `json:"Mode"`
	Timestamp         time.Time         `json:"timestamp"`
	TS                int64             `json:"_ts"`
}

// estimator finds leases as the SDK for .NET does, and checks that together
// they are the whole key space.
func (b *testBundle) estimator(name string) (tokens []string) {
	b.t.Helper()
	endpoint, err := url.Parse(b.client.Endpoint())
	if err != nil {
		b.t.Fatal(err)
	}
	db, err := b.client.NewDatabase(database)
	if err != nil {
		b.t.Fatal(err)
	}
	read, err := db.Read(b.t.Context(), nil)
	if err != nil {
		b.t.Fatal(err)
	}
	container, err := b.items.Read(b.t.Context(), nil)
	if err != nil {
		b.t.Fatal(err)
	}
	prefix := fmt.Sprintf("%s%s_%s_%s", name, endpoint.Hostname(), read.DatabaseProperties.ResourceID, container.ContainerProperties.ResourceID)
	var leases []estimatorLease
	for _, raw := range b.leasesWith(prefix + "..") {
		var l estimatorLease
		if err := json.Unmarshal(raw, &l); err != nil {
			b.t.Fatalf("a lease that the estimator can't read: %v", err)
		}
		keys := l.FeedRange.Range
		if l.ID != prefix+".."+l.LeaseToken || l.LeaseToken != keys.Min+"-"+keys.Max || l.Version != 1 || l.Mode != "Incremental Feed" ||
			!keys.IsMinInclusive || keys.IsMaxInclusive || l.Properties == nil || l.Timestamp.IsZero() || l.ETag == "" {
			b.t.Errorf("lease: %+v", l)
		}
		leases = append(leases, l)
	}
	slices.SortFunc(leases, func(a, b estimatorLease) int { return strings.Compare(a.FeedRange.Range.Min, b.FeedRange.Range.Min) })
	reached := ""
	for _, l := range leases {
		if l.FeedRange.Range.Min != reached {
			b.t.Errorf("the leases leave a gap at %q", reached)
		}
		reached = l.FeedRange.Range.Max
		tokens = append(tokens, l.LeaseToken)
	}
	if reached != "FF" {
		b.t.Errorf("the leases end at %q", reached)
	}
	return tokens
}

func TestOtherReadersFindLeases(t *testing.T) {
	t.Parallel()
	b := setup(t, emulatortest.WithPartitions(3))
	p := b.processor(b.config("orders"), new(seen).handle)
	look := func(when string, ranges int, behind bool) {
		t.Helper()
		lag := b.scaler("orders")
		var total int64
		for _, n := range lag {
			total += n
		}
		own, err := p.Lag(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		// The service may have split more than the test did.
		if tokens := b.estimator("orders"); len(own) < ranges || len(lag) != len(own) || len(tokens) != len(own) || (total > 0) != behind {
			t.Errorf("%s: the scaler finds %v, the estimator %v, the processor has %d", when, lag, tokens, len(own))
		}
	}
	catchUp := func() {
		t.Helper()
		if err := p.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	b.fill(40)
	if _, err := p.Lag(t.Context()); err != nil { // makes the leases
		t.Fatal(err)
	}
	look("before the first change was handled", 3, true)
	catchUp()
	look("when all is handled", 3, false)
	b.fill(40)
	look("when more was written", 3, true)
	ranges := b.emu.Ranges(database, monitored)
	b.emu.Split(database, monitored, ranges[1].ID)
	look("after a split that the processor has not seen", 3, true)
	catchUp()
	look("after a split", 4, false)
	b.emu.Merge(database, monitored, b.emu.Ranges(database, monitored)[0].ID, b.emu.Ranges(database, monitored)[1].ID)
	b.fill(40)
	look("after a merge that the processor has not seen", 4, true)
	catchUp()
	look("after a merge", 4, false)
	// What belongs to others is not found: another processor's leases, and
	// documents that are no leases.
	if err := b.processor(b.config("orders2"), new(seen).handle).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	look("with another processor", 4, false)
}

// The host in the ids is that of the account, as the config names it. Without
// that, the host that answered first is kept whichever answers later.
func TestLeasesNameTheAccount(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fill(10)
	host := func(endpoint string) string {
		u, err := url.Parse(endpoint)
		if err != nil {
			t.Fatal(err)
		}
		return u.Hostname()
	}
	run := func(endpoint, configured string) int {
		t.Helper()
		cfg := b.config("named")
		cfg.Container, cfg.Leases = b.through(endpoint, transport(func(r *http.Request) (*http.Response, error) {
			resp, err := b.emu.Transport().Do(r)
			return resp, err
		}))
		cfg.Endpoint = configured
		var s seen
		if err := b.processor(cfg, s.handle).CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		return s.count()
	}
	leaseOf := func(host string) {
		t.Helper()
		docs := b.leaseDocuments()
		if len(docs) != 1 || !strings.HasPrefix(docs[0]["id"].(string), "named"+host+"_") {
			t.Errorf("leases: %v", docs)
		}
	}
	first := "https://account-west.emulator.localhost/"
	if n := run(first, ""); n != 10 {
		t.Errorf("%d changes", n)
	}
	leaseOf(host(first))
	if n := run("https://account-east.emulator.localhost/", ""); n != 0 {
		t.Errorf("%d changes came again because another host answered", n)
	}
	leaseOf(host(first))
	if n := run("https://account-east.emulator.localhost/", "https://account.emulator.localhost:443/"); n != 0 {
		t.Errorf("%d changes came again because the account was named", n)
	}
	leaseOf("account.emulator.localhost")
	if _, err := changefeed.New(changefeed.Config{Container: b.items, Leases: b.leases, Name: "x", Endpoint: "account"}, new(seen).handle); err == nil {
		t.Error("an endpoint that is no URL is taken")
	}
}
