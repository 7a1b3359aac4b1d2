package store

import (
	"math"
	"net/http"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// Key is a partition key value, whole or a prefix. Nil means that the request gave none.
type Key []epk.Component

// canonical is a string that two keys share exactly when they are the same key.
func canonical(k Key) string {
	var scratch [64]byte
	b := scratch[:0]
	for _, c := range k {
		b = c.AppendCanonical(b)
	}
	return string(b)
}

// KeyOf extracts the partition key of a document (400).
func (c *Container) KeyOf(body []byte) (Key, error) {
	v, err := value.Parse(body)
	if err != nil {
		return nil, badRequest("The document body is not valid: %v.", err)
	}
	return c.Definition().keyOf(v)
}

// keyOf extracts the key; a missing field is undefined, which is another key than null.
func (d *Definition) keyOf(v value.Value) (Key, error) {
	key := make(Key, len(d.keyTokens))
	for i, tokens := range d.keyTokens {
		leaf, err := walkKey(v, tokens)
		if err != nil {
			return nil, err
		}
		if key[i], err = component(leaf); err != nil {
			return nil, err
		}
	}
	return key, d.checkKeySize(key)
}

// walkKey follows a key path. Something that isn't an object on the way can't hold a key, whereas a missing one is fine.
func walkKey(v value.Value, tokens []string) (value.Value, error) {
	for i, name := range tokens {
		if i > 0 && v.Kind() != value.Object && !v.IsUndefined() {
			return v, badRequest("The partition key path does not lead through objects in this document: %s is a %s.", strings.Join(tokens[:i], "/"), v.Kind())
		}
		v = v.Get(name)
	}
	return v, nil
}

func component(v value.Value) (epk.Component, error) {
	switch v.Kind() {
	case value.Undefined:
		return epk.Undefined(), nil
	case value.Null:
		return epk.Null(), nil
	case value.Bool:
		b, _ := v.Bool()
		return epk.Bool(b), nil
	case value.Number:
		f, _ := v.Number()
		return epk.Number(f + 0), nil // -0 and 0 are one key
	case value.String:
		s, _ := v.Str()
		return epk.String(s), nil
	}
	return epk.Component{}, badRequest("The partition key of a document can't be an %s: it should be a string, a number, a Boolean or null.", v.Kind())
}

func (d *Definition) checkKeySize(key Key) error {
	limit := maxKeyBytes
	if d.Scheme == epk.HashV1 {
		limit = maxKeyBytesV1
	}
	total := 0
	for _, c := range key {
		if f, ok := c.AsNumber(); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
			return badRequest("A number in the partition key is not finite.")
		}
		s, _ := c.AsString()
		total += len(s)
	}
	if total > limit {
		return badRequest("The partition key is longer than %d bytes.", limit)
	}
	return nil
}

// checkFull refuses a key that does not have one component to a path (400, 400/1001 for a prefix).
func (d *Definition) checkFull(key Key) error {
	switch {
	case d.SystemKey && len(key) == 0:
		return nil
	case len(key) == 0:
		return badRequest("%s", textFewerKeys)
	case len(key) < len(d.Paths):
		return refuse(http.StatusBadRequest, SubstatusKeyMismatch, textFewerKeys)
	case len(key) > len(d.Paths):
		return badRequest("%s", textMoreKeys)
	}
	return d.checkKeySize(key)
}

// completed is the key with what a container without a key of its own takes for granted.
func (d *Definition) completed(key Key) Key {
	if d.SystemKey && len(key) == 0 {
		return Key{epk.Undefined()}
	}
	return key
}

// hash is the effective partition key of a full key.
func (d *Definition) hash(key Key) string { return epk.Hash(d.Scheme, key...) }
