package changefeed

import (
	"testing"

	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// What the feed brings was written by anybody; nothing of it fails.
func TestHeadsOfAnyDocument(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]Change{
		`{"id":"a","_etag":"\"e\"","_rid":"r=","_lsn":7,"_ts":9}`: {ID: "a", ETag: `"e"`, rid: "r=", LSN: 7, Timestamp: 9},
		`{"ID":"x","id":"a","_TS":1,"_ts":2,"_Lsn":"z"}`:          {ID: "a", Timestamp: 2},
		`{"id":7,"_etag":[],"_rid":null,"_lsn":"7","_ts":1.5}`:    {},
		`{"id":"a","id":"b"}`: {ID: "b"},
		"{\"id\":\"a\xff\",\"\xfe\":1,\"x\":\"\xfd\",\"_ts\":3}": {ID: "a\ufffd", Timestamp: 3},
		`{"x":"\ud800","n":1e999,"id":"a"}`:                      {ID: "a"},
		`[]`:                                                     {}, `null`: {}, `"x"`: {}, `7`: {},
	} {
		got := parseChange([]byte(raw))
		if got.ID != want.ID || got.ETag != want.ETag || got.rid != want.rid || got.LSN != want.LSN || got.Timestamp != want.Timestamp || string(got.Document) != raw {
			t.Errorf("%s: %+v", raw, got)
		}
	}
}

// A page that the SDK widened is cut to the range by the documents' keys, whatever else they hold.
func TestKeysOfAnyDocument(t *testing.T) {
	t.Parallel()
	r := &reader{scheme: epk.MultiHash, keyPaths: [][]string{{"tenant"}, {"at", "kind"}}}
	for raw, want := range map[string]string{
		`{"tenant":"t","at":{"kind":"k"},"n":1e999,"Tenant":7}`: `["t","k"]`,
		`{"tenant":null,"at":{"Kind":"k"}}`:                     `[null,{}]`,
		`{"tenant":1.5,"at":[true]}`:                            `[1.5,{}]`,
		`{"tenant":{"a":1},"at":{"kind":false}}`:                `[{},false]`,
		`[]`:                                                    `[{},{}]`,
	} {
		if got := string(r.keyText([]byte(raw))); got != want {
			t.Errorf("%s: %s", raw, got)
		}
		if text := textOfKey(parseKey(want)); text != want {
			t.Errorf("%s is read back as %s", want, text)
		}
	}
}
