package restapi

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/faults"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// resourceToken is what a permission's token says, and the account vouches for by its key.
type resourceToken struct {
	Resource string `json:"r"`           // the link of a container or an item
	Mode     string `json:"m"`           // All or Read
	Key      string `json:"k,omitempty"` // the partition key that it is limited to, as JSON
	Expires  int64  `json:"e"`           // in Unix seconds
}

// modeAll is the mode of a permission to do everything.
const modeAll = "All"

// resourceToken writes a token in the service's form: the type, the version, and what only the account can read.
func (a *authenticator) resourceToken(t resourceToken) string {
	payload := encodeJSON(t)
	encode := base64.RawURLEncoding.EncodeToString
	return "type=resource&ver=1.0&sig=" + encode(a.mac(payload)) + ";" + encode(payload) + ";"
}

func (a *authenticator) mac(payload []byte) []byte {
	mac := hmac.New(sha256.New, (*a.keys.Load())[0].raw)
	mac.Write([]byte("resource token\n"))
	mac.Write(payload)
	return mac.Sum(nil)
}

// checkResourceToken reads a token that the account made.
func (a *authenticator) checkResourceToken(signature string) (*principal, *store.Error) {
	refusal := fail(http.StatusUnauthorized, 0, "The resource token is none that this account made: read the permission again for another.")
	sum, rest, _ := strings.Cut(signature, ";")
	payload, err := base64.RawURLEncoding.DecodeString(strings.TrimSuffix(rest, ";"))
	if err != nil {
		return nil, refusal
	}
	given, err := base64.RawURLEncoding.DecodeString(sum)
	if err != nil || !hmac.Equal(a.mac(payload), given) {
		return nil, refusal
	}
	t := &resourceToken{}
	if err := json.Unmarshal(payload, t); err != nil {
		return nil, refusal
	}
	if a.now().Unix() >= t.Expires {
		return nil, fail(http.StatusForbidden, 0, "The authorization token is not valid at the current time. Please create another token and retry.")
	}
	return &principal{token: t}, nil
}

// permitByToken refuses what a resource token is not for. Every client reads the account first.
func (c *call) permitByToken(op faults.Operation) *store.Error {
	t := c.caller.token
	if op == faults.ReadAccount || t.reaches(c, op) {
		return nil
	}
	return fail(http.StatusForbidden, 0, "Insufficient permissions provided in the authorization header for the corresponding request. "+
		"Please retry with another authorization header.")
}

func (t *resourceToken) reaches(c *call, op faults.Operation) bool {
	l, ok := c.linkOfToken(t.Resource)
	if !ok || l.database != c.link.database || l.container != c.link.container {
		return false
	}
	reads, describes := false, false
	switch op {
	case faults.ReadContainer, faults.ReadPartitionKeyRanges, faults.QueryPlan:
		describes = true
	case faults.ReadItem, faults.ListItems, faults.QueryItems, faults.ChangeFeed:
		reads = true
	}
	switch {
	case l.item != "" && (l.item != c.link.item || describes || op == faults.DeleteItemsByPartition):
		return false
	case describes:
		return true
	case !reads && (t.Mode != modeAll || !writesItems(op)):
		return false
	}
	return t.hasKey(c)
}

// hasKey reports whether the request keeps to the partition key of the token, if it has one.
func (t *resourceToken) hasKey(c *call) bool {
	if t.Key == "" || t.Key == "null" {
		return true
	}
	key, err := parsePartitionKey(t.Key)
	return err == nil && c.opts.hasPartitionKey && slices.Equal(key, c.opts.partitionKey)
}

// linkOfToken reads the link in a token, with names in the place of rids.
func (c *call) linkOfToken(text string) (link, bool) {
	l, err := parseLink("/" + text)
	if err != nil {
		return l, false
	}
	other := &call{h: c.h, link: l}
	if l.checkRIDs() != nil || other.resolve() != nil {
		return l, false
	}
	return other.link, other.link.item != "" || l.item == ""
}
