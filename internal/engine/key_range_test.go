package engine

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/internal/merge"
	"github.com/cosmosgrove/grove/tenantitem"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

type spanned struct {
	tenantitem.TenantItem[spanned]
	Kind string `json:"kind"`
}

// callOn is a call on a container whose physical partitions are known, so that
// nothing is sent.
func callOn(t *testing.T, known []physicalPartition, tenant string) *Call {
	t.Helper()
	credential, err := azcosmos.NewKeyCredential("c2VjcmV0")
	if err != nil {
		t.Fatal(err)
	}
	client, err := azcosmos.NewClientWithKey("https://nowhere.invalid/", credential, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	container, err := client.NewContainer("db", "c")
	if err != nil {
		t.Fatal(err)
	}
	var repo Handle
	if err := Bind(&repo, reflect.TypeFor[spanned](), container, Settings{PartitionKey: []string{"/tenantId", "/kind"}}); err != nil {
		t.Fatal(err)
	}
	c := CollectionOf(&repo)
	c.physicalPartitions.known = known
	at := &Partition{All: true, Key: azcosmos.NewPartitionKey()}
	if tenant != "" {
		*at = c.Resolve(c.entityType, tenant, nil)
	}
	return &Call{Collection: c, Op: "Query", At: at}
}

// TestPieces_prefixOnSeveralPartitions is for a tenant that has outgrown a
// physical partition, so that the bounds of its keys are cut.
func TestPieces_prefixOnSeveralPartitions(t *testing.T) {
	t.Parallel()
	low, high := epk.PrefixRange(epk.MultiHash, epk.String("acme"))
	cut := epk.Hash(epk.MultiHash, epk.String("acme"), epk.String("middle"))
	k := callOn(t, []physicalPartition{{"1", epk.Min, cut}, {"2", cut, epk.Max}}, "acme")
	p, err := k.PlanFor(All(), SelectAll)
	if err != nil {
		t.Fatal(err)
	}
	pieces, err := k.pieces(t.Context(), p, p.ranges(k.Collection), "")
	if err != nil {
		t.Fatal(err)
	}
	if len(pieces) != 2 || pieces[0].Min != low || pieces[0].Max != cut || pieces[1].Min != cut || pieces[1].Max != high {
		t.Fatalf("the tenant's keys from %s to %s were cut at %s into %+v", low, high, cut, rangesOf(pieces))
	}
	for i, piece := range pieces {
		if piece.at.physicalPartition.id != []string{"1", "2"}[i] {
			t.Errorf("piece %d goes to partition %s", i, piece.at.physicalPartition.id)
		}
	}
	if joined := rangesOf(pieces); len(joined) != 1 || joined[0].Min != low || joined[0].Max != high {
		t.Errorf("put together again they are %+v", joined)
	}
}

func TestPieces_leavesOthersAlone(t *testing.T) {
	t.Parallel()
	bounds := epk.SplitEvenly(epk.MultiHash, 8)
	var known []physicalPartition
	for i := range 8 {
		known = append(known, physicalPartition{string(rune('0' + i)), bounds[i], bounds[i+1]})
	}
	for _, tenant := range []string{"acme", "globex", "initech", "umbrella"} {
		k := callOn(t, known, tenant)
		p, err := k.PlanFor(All(), SelectAll)
		if err != nil {
			t.Fatal(err)
		}
		pieces, err := k.pieces(t.Context(), p, p.ranges(k.Collection), "")
		if err != nil {
			t.Fatal(err)
		}
		key := epk.Hash(epk.MultiHash, epk.String(tenant))
		if len(pieces) != 1 || epk.Compare(pieces[0].at.physicalPartition.min, key) > 0 || epk.Compare(pieces[0].at.physicalPartition.max, key) <= 0 {
			t.Errorf("%s goes to %+v", tenant, pieces)
		}
	}
	k := callOn(t, known, "")
	p, err := k.PlanFor(All(), SelectAll)
	if err != nil {
		t.Fatal(err)
	}
	if pieces, err := k.pieces(t.Context(), p, p.ranges(k.Collection), ""); err != nil || len(pieces) != 8 {
		t.Errorf("all tenants are in %d pieces, %v", len(pieces), err)
	}
}

// TestJoin_keepsTokens makes sure that only parts that were not begun are put
// together.
func TestJoin_keepsTokens(t *testing.T) {
	t.Parallel()
	in := []keyRange{{Min: "", Max: "10"}, {Min: "10", Max: "20"}, {Min: "20", Max: "30", From: "x"}, {Min: "30", Max: "40"}, {Min: "50", Max: "60"}, {Partition: 1, Min: "60", Max: "70"}, {Partition: 2}, {Partition: 2}}
	want := []keyRange{{Min: "", Max: "20"}, {Min: "20", Max: "30", From: "x"}, {Min: "30", Max: "40"}, {Min: "50", Max: "60"}, {Partition: 1, Min: "60", Max: "70"}, {Partition: 2}, {Partition: 2}}
	if got := join(in); !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestPosition_size(t *testing.T) {
	t.Parallel()
	begun := func(n, token int) []keyRange {
		out := make([]keyRange, n)
		bounds := epk.SplitEvenly(epk.MultiHash, n)
		for i := range out {
			out[i] = keyRange{Min: bounds[i], Max: bounds[i+1], From: strings.Repeat("t", token)}
		}
		return out
	}
	after := &merge.SortKey{RID: "r"}
	small := Position{Ranges: begun(4, 100), After: after}
	text, err := small.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if p, err := decodePosition(text, 1); err != nil || len(p.Ranges) != 4 || p.Ranges[0].From == "" {
		t.Errorf("four tokens came back as %+v, %v", p, err)
	}
	// A cursor must fit into a URL, so tokens go when they are too many.
	large := Position{Ranges: begun(400, 300), After: after}
	if text, err = large.Encode(); err != nil {
		t.Fatal(err)
	}
	if p, err := decodePosition(text, 1); err != nil || !slices.Equal(p.Ranges, []keyRange{{Min: epk.Min, Max: epk.Max}}) {
		t.Errorf("400 tokens came back as %+v, %v", p, err)
	}
	huge := Position{Ranges: begun(1, 1), After: &merge.SortKey{RID: strings.Repeat("r", maxPositionBytes)}}
	if _, err := huge.Encode(); !errors.Is(err, ErrUnsupported) {
		t.Errorf("got %v, want ErrUnsupported", err)
	}
}

func TestDecodePosition_refuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "{", "[]", `"x"`, `{"s":[{"h":2}]}`, `{"s":[{"h":-1}]}`, `{"s":[{}],"l":"x"}`} {
		if _, err := decodePosition(text, 2); !errors.Is(err, ErrInvalid) {
			t.Errorf("%q: got %v, want ErrInvalid", text, err)
		}
	}
}

// FuzzPosition: what comes out of a cursor is refused or names partitions that exist.
func FuzzPosition(f *testing.F) {
	f.Add(`{"s":[{"a":"","b":"20","t":"token"},{"h":1}],"p":{"r":"rid","o":[{"v":1},{}]},"l":3}`)
	f.Add(`{"s":[{"h":-1}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := decodePosition(text, 2)
		if err != nil {
			if !errors.Is(err, ErrInvalid) {
				t.Fatalf("got %v", err)
			}
			return
		}
		for _, s := range p.Ranges {
			if s.Partition < 0 || s.Partition > 1 {
				t.Fatalf("partition %d", s.Partition)
			}
		}
		again, err := p.Encode()
		if err != nil && !errors.Is(err, ErrUnsupported) {
			t.Fatalf("written again: %v", err)
		}
		if _, readErr := decodePosition(again, 2); err == nil && readErr != nil {
			t.Fatalf("read again: %v", readErr)
		}
	})
}
