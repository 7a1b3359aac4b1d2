package engine

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"

	"github.com/cosmosgrove/grove/tenantitem"
)

// A page cursor is base64url text, safe in a URL: a version byte, a signature,
// and where the query goes on. The signature covers what the cursor is good
// for (entity type, scope and query), which is therefore not repeated in it.
// Where the query goes on is the service's continuation in one partition, and
// else a Position of cross_partition_page.go.
const (
	cursorVersion  = 1
	cursorMAC      = 16
	minCursorKey   = 16
	maxCursorBytes = 32 << 10
)

type cursorSigner struct{ key []byte }

func newCursorSigner(key []byte) (cursorSigner, error) {
	if key == nil {
		key = make([]byte, sha256.Size)
		rand.Read(key) // never fails: it ends the process instead
	}
	if len(key) < minCursorKey {
		return cursorSigner{}, &tenantitem.InvalidError{What: "cursor key", Reason: "it is shorter than 16 bytes", Hint: "use 32 random bytes, the same in every process of the service"}
	}
	return cursorSigner{key}, nil
}

func (s cursorSigner) Seal(boundTo, position string) string {
	out := append([]byte{cursorVersion}, s.mac(boundTo, position)...)
	return base64.RawURLEncoding.EncodeToString(append(out, position...))
}

func (s cursorSigner) Open(boundTo, cursor string) (position string, err error) {
	refuse := func(reason string) (string, error) {
		return "", &tenantitem.InvalidError{What: "cursor", Reason: reason, Hint: "start again without a cursor; one is good only for the tenant, the query and the CursorKey that it was made with"}
	}
	if len(cursor) > maxCursorBytes {
		return refuse("it is too long")
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(raw) < 1+cursorMAC {
		return refuse("it is not one of ours")
	}
	if raw[0] != cursorVersion {
		return refuse("it has another version")
	}
	position = string(raw[1+cursorMAC:])
	if !hmac.Equal(raw[1:1+cursorMAC], s.mac(boundTo, position)) {
		return refuse("its signature does not match")
	}
	return position, nil
}

func (s cursorSigner) mac(boundTo, position string) []byte {
	h := hmac.New(sha256.New, s.key)
	h.Write([]byte{cursorVersion})
	h.Write([]byte(boundTo))
	h.Write([]byte{0})
	h.Write([]byte(position))
	return h.Sum(nil)[:cursorMAC]
}
