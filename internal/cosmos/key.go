package cosmos

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// Key is an account key that can be replaced while clients use it. The SDK's
// own credential can be too, but every client has a copy of it.
type Key struct{ current atomic.Pointer[keyValue] }

type keyValue struct {
	text string
	raw  []byte
}

// errNotAKey does not quote what it was given.
var errNotAKey = errors.New("it is not base64")

// Replace makes the key another one, for all requests that are sent from now on.
func (k *Key) Replace(text string) error {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw) == 0 {
		return errNotAKey
	}
	k.current.Store(&keyValue{text, raw})
	return nil
}

// Text is the key as it is now, base64; empty in one that was never given any.
func (k *Key) Text() string {
	if v := k.current.Load(); v != nil {
		return v.text
	}
	return ""
}

// Policy signs requests with the key as it is when they are sent. It runs
// behind the SDK's own policy, once for each attempt.
func (k *Key) Policy() *KeyPolicy { return &KeyPolicy{key: k, first: k.current.Load()} }

// KeyPolicy is a pipeline policy of one client.
type KeyPolicy struct {
	key   *Key
	first *keyValue
}

// First is the key that the SDK has to be given: requests are signed anew only
// once it was replaced.
func (p *KeyPolicy) First() string { return p.first.text }

// Do signs the request. The service refuses a request before it does anything,
// so that one which was signed just before the key was replaced is sent again.
func (p *KeyPolicy) Do(req *policy.Request) (*http.Response, error) {
	used := p.key.current.Load()
	if used != p.first {
		used.sign(req.Raw())
	}
	resp, err := req.Next()
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		return resp, err
	}
	now := p.key.current.Load()
	again := now != used && req.RewindBody() == nil
	if !again {
		return resp, nil
	}
	_ = resp.Body.Close() // what it says is about another key
	now.sign(req.Raw())
	return req.Next()
}

// sign sets the Authorization header of a request whose x-ms-date is set.
// Source: https://learn.microsoft.com/rest/api/cosmos-db/access-control-on-cosmosdb-resources
func (v *keyValue) sign(r *http.Request) {
	resourceType, link := signedResource(r.URL)
	mac := hmac.New(sha256.New, v.raw)
	_, _ = mac.Write([]byte(strings.ToLower(r.Method) + "\n" + resourceType + "\n" + link + "\n" + strings.ToLower(r.Header.Get("X-Ms-Date")) + "\n\n"))
	r.Header.Set("Authorization", url.QueryEscape("type=master&ver=1.0&sig="+base64.StdEncoding.EncodeToString(mac.Sum(nil))))
}

// signedResource is the resource that a URL is about: itself, or for a feed its
// parent. The ids of offers are the service's own, and are signed alone.
func signedResource(u *url.URL) (resourceType, link string) {
	path := strings.Trim(u.EscapedPath(), "/")
	if path == "" {
		return "", "" // the account
	}
	parts := strings.Split(path, "/")
	n := len(parts)
	if n%2 == 1 {
		resourceType, link = parts[n-1], strings.Join(parts[:n-1], "/")
	} else {
		resourceType, link = parts[n-2], path
	}
	if plain, err := url.PathUnescape(link); err == nil {
		link = plain
	}
	if resourceType == "offers" && n == 2 {
		link = strings.ToLower(parts[1])
	}
	return resourceType, link
}
