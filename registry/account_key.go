package registry

import (
	"log/slog"

	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/tenantitem"
)

// AccountKey is an account's key that can be replaced while clients use it:
// give it to [NewClient] in [ClientConfig].AccountKey, and rotate without a
// restart. It is safe for use by many goroutines, and never prints the key.
//
// An account has two keys. To rotate: regenerate the one that is not in use,
// [AccountKey.Replace] it here, in every process, and regenerate the other.
type AccountKey struct{ key cosmos.Key }

// NewAccountKey takes a key as the portal shows it, base64. It fails with an
// error that unwraps to [tenantitem.ErrInvalid] when it is none, and does not
// quote it.
func NewAccountKey(key string) (*AccountKey, error) {
	k := &AccountKey{}
	return k, k.Replace(key)
}

// Replace makes every client that was made with this AccountKey sign with
// another key, from the next request on. Requests that were signed before and
// that the service refuses for it (401) are signed and sent once more, writes too: a refused
// request changed nothing. Nothing is sent here, so that a wrong key
// shows at the next request, and can be replaced in turn.
//
// It fails with an error that unwraps to [tenantitem.ErrInvalid], and keeps the
// key that it has, when the text is not base64.
func (k *AccountKey) Replace(key string) error {
	if k.key.Replace(key) != nil {
		return errNoKey()
	}
	return nil
}

func errNoKey() error {
	return &tenantitem.InvalidError{What: "account key", Reason: "it is not base64", Hint: "copy it whole, with the = at its end"}
}

// String prints no part of the key, as do GoString, LogValue and MarshalJSON.
func (k *AccountKey) String() string { return "registry.AccountKey(redacted)" }

// GoString is String.
func (k *AccountKey) GoString() string { return k.String() }

// LogValue is String for package slog.
func (k *AccountKey) LogValue() slog.Value { return slog.StringValue(k.String()) }

// MarshalJSON is String as a JSON text.
func (k *AccountKey) MarshalJSON() ([]byte, error) { return []byte(`"` + k.String() + `"`), nil }
