package restapi

import (
	"bytes"
	"net/http"
	"testing"
)

// TestNumbersAreDoubles checks that keys which are one double are one partition, and that what is stored reads as doubles
// whichever way it was written and is read.
func TestNumbersAreDoubles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const upsert = "x-ms-documentdb-is-upsert"
	for _, tt := range []struct{ id, written, key, otherKey, kept string }{
		{"big", "9007199254740993", "[9007199254740993]", "[9007199254740992]", `"pk":9.007199254740992e+15`},
		{"zero", "-0", "[-0]", "[0]", `"pk":0`},
		{"exponent", "2e1", "[20]", "[20.0]", `"pk":20`},
	} {
		body := `{"id":"` + tt.id + `","pk":` + tt.written + `}`
		if a := b.do(t, http.MethodPost, "/dbs/db/colls/items/docs", body, keyHeader, tt.key); a.Status != http.StatusCreated {
			t.Fatalf("create %s: %d %s", tt.id, a.Status, a.Body)
		}
		read := b.do(t, http.MethodGet, "/dbs/db/colls/items/docs/"+tt.id, "", keyHeader, tt.otherKey)
		if read.Status != http.StatusOK || !bytes.Contains(read.Body, []byte(tt.kept)) {
			t.Errorf("read %s by %s: %d %s, want %s", tt.id, tt.otherKey, read.Status, read.Body, tt.kept)
		}
		if a := b.do(t, http.MethodPost, "/dbs/db/colls/items/docs", body, keyHeader, tt.otherKey, upsert, "true"); a.Status != http.StatusOK {
			t.Errorf("upsert %s by %s: %d %s", tt.id, tt.otherKey, a.Status, a.Body)
		}
		patch := b.do(t, http.MethodPatch, "/dbs/db/colls/items/docs/"+tt.id, `{"operations":[{"op":"set","path":"/n","value":1.50},{"op":"incr","path":"/n","value":9007199254740993}]}`,
			keyHeader, tt.key, "content-type", "application/json_patch+json")
		if patch.Status != http.StatusOK || !bytes.Contains(patch.Body, []byte(`"n":9.007199254740994e+15`)) {
			t.Errorf("patch %s: %d %s", tt.id, patch.Status, patch.Body)
		}
	}
}
