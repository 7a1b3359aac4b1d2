package restapi

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// dateSkew is how far a signed date may lie from the server's.
const dateSkew = 15 * time.Minute

// authenticator checks the authorization header. It knows the account's keys and accepts two of the service's forms: a
// signature made with one of them, and an Entra ID token in the unsigned form that Microsoft's emulators accept, whose third
// part is a key's text.
type authenticator struct {
	keys atomic.Pointer[[]accountKey] // never empty
	// now is the wall clock, not the emulator's: a client signs its own date and does not follow a clock that a test turns.
	now func() time.Time
}

// accountKey is one of an account's keys.
type accountKey struct {
	text string
	raw  []byte
}

func newAuthenticator(key string, now func() time.Time) (*authenticator, error) {
	a := &authenticator{now: now}
	return a, a.setKeys(key)
}

// setKeys puts these in the place of all keys before.
func (a *authenticator) setKeys(texts ...string) error {
	keys := make([]accountKey, len(texts))
	for i, text := range texts {
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(raw) == 0 {
			return errors.New("the account key is not base64: use the key of Microsoft's emulators or make one with base64")
		}
		keys[i] = accountKey{text, raw}
	}
	if len(keys) == 0 {
		return errors.New("an account has at least one key")
	}
	a.keys.Store(&keys)
	return nil
}

// fork gives one whose keys are changed without this one's.
func (a *authenticator) fork() *authenticator {
	f := &authenticator{now: a.now}
	f.keys.Store(a.keys.Load())
	return f
}

// tokenParts is the authorization header taken apart.
type tokenParts struct{ kind, version, signature string }

func parseAuthorization(header string) (tokenParts, bool) {
	// JS and Go send the master form URL-encoded and the Entra form bare, whose token holds nothing to decode.
	if decoded, err := url.QueryUnescape(header); err == nil && strings.HasPrefix(strings.ToLower(header), "type%3d") {
		header = decoded
	}
	var parts tokenParts
	for field := range strings.SplitSeq(header, "&") {
		name, text, ok := strings.Cut(field, "=")
		if !ok {
			return parts, false
		}
		switch strings.ToLower(name) {
		case "type":
			parts.kind = strings.ToLower(text)
		case "ver":
			parts.version = text
		case "sig":
			parts.signature = text
		}
	}
	return parts, parts.kind != "" && parts.version == "1.0" && parts.signature != ""
}

// check refuses a request whose authorization does not fit the method, the link and the date. It tells who the caller is; nil is one with the
// account key.
func (a *authenticator) check(method string, l link, header http.Header) (caller *principal, refusal *store.Error) {
	authorization := header.Get("Authorization")
	if authorization == "" {
		return nil, fail(http.StatusUnauthorized, 0,
			"Required Header authorization is missing. Ensure a valid Authorization token is passed.")
	}
	parts, ok := parseAuthorization(authorization)
	if !ok {
		return nil, fail(http.StatusUnauthorized, 0,
			"The format of the authorization header is not type={master|aad|resource}&ver=1.0&sig={signature or token}.")
	}
	switch parts.kind {
	case "master":
		return nil, a.checkSignature(method, l, header, parts.signature)
	case "aad":
		return a.checkToken(parts.signature)
	case "resource":
		return a.checkResourceToken(parts.signature)
	}
	return nil, fail(http.StatusUnauthorized, 0, "The type of the authorization token is none of master, aad and resource.")
}

func (a *authenticator) checkSignature(method string, l link, header http.Header, signature string) *store.Error {
	stamp := header.Get("x-ms-date")
	if stamp == "" {
		stamp = header.Get("Date")
	}
	signedAt, err := parseHTTPDate(stamp)
	if err != nil {
		return fail(http.StatusUnauthorized, 0, "The x-ms-date header is missing or is not an RFC 1123 date.")
	}
	resourceType, resourceLink := l.signed()
	payload := strings.ToLower(method) + "\n" + resourceType + "\n" + resourceLink + "\n" + strings.ToLower(stamp) + "\n\n"
	if !a.signs(payload, signature) {
		return fail(http.StatusUnauthorized, 0, "The input authorization token can't serve the request. The wrong key is "+
			"being used or the expected payload is not built as per the protocol. For more info: "+
			"https://aka.ms/cosmosdb-tsg-unauthorized. Server used the following payload to sign: '"+escapeLines(payload)+"'")
	}
	now := a.now().UTC()
	if d := now.Sub(signedAt); d > dateSkew || d < -dateSkew {
		return fail(http.StatusForbidden, 0, fmt.Sprintf("The authorization token is not valid at the current time. Please "+
			"create another token and retry (token start time: %s, token expiry time: %s, current server time: %s).",
			signedAt.Format(http.TimeFormat), signedAt.Add(dateSkew).Format(http.TimeFormat), now.Format(http.TimeFormat)))
	}
	return nil
}

func (a *authenticator) signs(payload, signature string) bool {
	given, err := base64.StdEncoding.DecodeString(signature)
	if err != nil {
		return false
	}
	for _, key := range *a.keys.Load() {
		mac := hmac.New(sha256.New, key.raw)
		mac.Write([]byte(payload))
		if hmac.Equal(mac.Sum(nil), given) {
			return true
		}
	}
	return false
}

func (a *authenticator) hasKey(text []byte) bool {
	return slices.ContainsFunc(*a.keys.Load(), func(key accountKey) bool { return subtle.ConstantTimeCompare(text, []byte(key.text)) == 1 })
}

// checkToken reads an Entra ID token. Nothing can verify a real signature here, so only the emulators' form is accepted.
func (a *authenticator) checkToken(token string) (*principal, *store.Error) {
	refusal := fail(http.StatusUnauthorized, 0, "The Entra ID token can't be accepted by this emulator: it takes a JWT whose "+
		"third part is the account key's text in base64url, as Microsoft's emulators do.")
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, refusal
	}
	key, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[2], "="))
	if err != nil || !a.hasKey(key) {
		return nil, refusal
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return nil, refusal
	}
	var claims struct {
		ObjectID  string `json:"oid"`
		NotBefore int64  `json:"nbf"`
		Expires   int64  `json:"exp"`
	}
	if err := json.Unmarshal(payload, &claims); err != nil {
		return nil, refusal
	}
	now := a.now().Unix()
	if (claims.Expires != 0 && now > claims.Expires+int64(dateSkew/time.Second)) || now < claims.NotBefore-int64(dateSkew/time.Second) {
		return nil, fail(http.StatusUnauthorized, 0, "The Entra ID token is expired or not valid yet: acquire another.")
	}
	return &principal{id: claims.ObjectID}, nil
}

// parseHTTPDate reads RFC 1123 dates that end in GMT, as the protocol says, or in UTC, as the Go SDK writes some.
func parseHTTPDate(text string) (time.Time, error) {
	if t, err := http.ParseTime(text); err == nil {
		return t.UTC(), nil
	}
	t, err := time.Parse(time.RFC1123, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("the date is not in RFC 1123 form: %w", err)
	}
	return t.UTC(), nil
}

func escapeLines(s string) string { return strings.ReplaceAll(s, "\n", `\n`) }
