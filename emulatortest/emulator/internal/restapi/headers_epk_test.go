package restapi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/tenantitem/epk"
)

const rangeHeader = "x-ms-documentdb-partitionkeyrangeid"

// divided is the usual bundle with 60 items of as many keys in "items", whose hashes are cut at 20 (range 1 and 2).
func divided(t *testing.T) *bundle {
	t.Helper()
	b := setup(t)
	for i := range 60 {
		id := fmt.Sprint(i)
		b.do(t, "POST", "/dbs/db/colls/items/docs", `{"id":"`+id+`","pk":"`+id+`"}`, keyHeader, `["`+id+`"]`)
	}
	if _, err := b.items(t).Split("0", "20"); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestEPKHeadersAreTakenAsATrio(t *testing.T) {
	t.Parallel()
	b := divided(t)
	const kind, docs = "EffectivePartitionKeyRange", "/dbs/db/colls/items/docs"
	const inner, outer = "05", "15" // within range 1
	padded := func(bound string) string { return bound + strings.Repeat("0", 96-len(bound)) }
	cases := []struct {
		name    string
		headers []string
		want    string // status and substatus
	}{
		{"inner bounds", []string{rangeHeader, "1", headerStartEPK, inner, headerEndEPK, outer, headerKeyType, kind}, "200"},
		{"inner bounds without a range", []string{headerStartEPK, inner, headerEndEPK, outer, headerKeyType, kind}, "200"},
		{"lower case", []string{rangeHeader, "2", headerStartEPK, "2a", headerEndEPK, "ff", headerKeyType, kind}, "200"},
		{"the physical bounds", []string{rangeHeader, "2", headerStartEPK, "20", headerEndEPK, "FF", headerKeyType, kind}, "200"},
		{"padded bounds", []string{rangeHeader, "1", headerStartEPK, padded("00"), headerEndEPK, padded("20"), headerKeyType, kind}, "200"},
		{"trimmed bound", []string{rangeHeader, "2", headerStartEPK, "2", headerEndEPK, "FF", headerKeyType, kind}, "200"},
		{"wrong key type", []string{rangeHeader, "1", headerStartEPK, inner, headerEndEPK, outer, headerKeyType, "EffectivePartitionKey"}, "400"},
		{"no key type", []string{rangeHeader, "1", headerStartEPK, inner, headerEndEPK, outer}, "400"},
		{"key type alone", []string{rangeHeader, "1", headerKeyType, kind}, "400"},
		{"empty start with a range", []string{rangeHeader, "1", headerStartEPK, "", headerEndEPK, outer, headerKeyType, kind}, "400"},
		{"empty start without a range", []string{headerStartEPK, "", headerEndEPK, outer, headerKeyType, kind}, "200"},
		{"no start", []string{rangeHeader, "1", headerEndEPK, outer, headerKeyType, kind}, "400"},
		{"no end", []string{rangeHeader, "1", headerStartEPK, inner, headerKeyType, kind}, "400"},
		{"empty end", []string{rangeHeader, "1", headerStartEPK, inner, headerEndEPK, "", headerKeyType, kind}, "400"},
		{"words", []string{rangeHeader, "1", headerStartEPK, "here", headerEndEPK, "there", headerKeyType, kind}, "400"},
		{"start behind the end", []string{rangeHeader, "1", headerStartEPK, outer, headerEndEPK, inner, headerKeyType, kind}, "400"},
		{"two ranges", []string{headerStartEPK, inner, headerEndEPK, "25", headerKeyType, kind}, "410/1002"},
		{"two ranges, one named", []string{rangeHeader, "1", headerStartEPK, inner, headerEndEPK, "25", headerKeyType, kind}, "410/1002"},
		{"everything", []string{headerStartEPK, "", headerEndEPK, "FF", headerKeyType, kind}, "410/1002"},
		{"the other range", []string{rangeHeader, "1", headerStartEPK, "25", headerEndEPK, "30", headerKeyType, kind}, "410/1002"},
		{"a range that was split", []string{rangeHeader, "0", headerStartEPK, inner, headerEndEPK, outer, headerKeyType, kind}, "410/1002"},
	}
	requests := map[string]func(headers []string) *Answer{
		"list": func(headers []string) *Answer { return b.do(t, "GET", docs, "", headers...) },
		"feed": func(headers []string) *Answer {
			return b.do(t, "GET", docs, "", append(slices.Clone(headers), "A-IM", "Incremental Feed")...)
		},
		"query": func(headers []string) *Answer {
			return b.do(t, "POST", docs, `{"query":"SELECT * FROM c"}`, append(slices.Clone(headers), "Content-Type", "application/query+json",
				"x-ms-documentdb-query-enablecrosspartition", "true")...)
		},
	}
	for _, c := range cases {
		for name, send := range requests {
			a := send(c.headers)
			got := fmt.Sprint(a.Status)
			if substatus := a.Header.Get("x-ms-substatus"); substatus != "" {
				got += "/" + substatus
			}
			if got == "304" {
				got = "200"
			}
			if got != c.want {
				t.Errorf("%s, %s: %s %s, want %s", name, c.name, got, a.Body, c.want)
			}
			if c.want == "400" && c.name != "start behind the end" && !strings.Contains(string(a.Body), "One of the input values is invalid") {
				t.Errorf("%s, %s: %s", name, c.name, a.Body)
			}
		}
	}
}

// Bounds cut a partition so that every item is in exactly one part, however they are written.
func TestEPKBoundsCutExactly(t *testing.T) {
	t.Parallel()
	b := divided(t)
	at := epk.Hash(epk.HashV2, epk.String("7")) // an item lies on the bound itself
	physical, minInclusive, maxExclusive := "1", "00", "20"
	if epk.Compare(at, "20") >= 0 {
		physical, minInclusive, maxExclusive = "2", "20", "FF"
	}
	list := func(from, to string) []string {
		a := b.do(t, "GET", "/dbs/db/colls/items/docs", "", rangeHeader, physical, headerStartEPK, from, headerEndEPK, to, headerKeyType, keyTypeRange)
		var page struct{ Documents []struct{ ID string } }
		if err := json.Unmarshal(a.Body, &page); err != nil {
			t.Fatal(err)
		}
		ids := make([]string, len(page.Documents))
		for i, d := range page.Documents {
			ids[i] = d.ID
		}
		return ids
	}
	all := list(minInclusive, maxExclusive)
	for _, bound := range []string{at, strings.ToLower(at), at + strings.Repeat("0", 64)} {
		before, behind := list(minInclusive, bound), list(bound, maxExclusive)
		if slices.Contains(before, "7") || !slices.Contains(behind, "7") || len(before)+len(behind) != len(all) {
			t.Errorf("%s: %v and %v of %v", bound, before, behind, all)
		}
	}
}
