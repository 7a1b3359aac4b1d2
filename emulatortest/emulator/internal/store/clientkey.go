package store

import (
	"net/http"
	"slices"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// clientKey is a client encryption key: metadata for clients that encrypt properties themselves. The store never uses it.
type clientKey struct {
	ordinal  uint64
	resource Resource
}

// CreateClientKey adds a client encryption key from the request's body (400, 404/1003, 409).
func (d *Database) CreateClientKey(body []byte) (Resource, error) {
	tree, id, err := parseClientKey(body)
	if err != nil {
		return Resource{}, err
	}
	return d.changeClientKeys(func() (Resource, []Mutation, error) {
		if d.deleted {
			return Resource{}, nil, parentNotFound()
		}
		if d.findClientKey(id) >= 0 {
			return Resource{}, nil, refuse(http.StatusConflict, 0, textConflict)
		}
		serial, counter := d.account.nextSerial()
		k := d.describeClientKey(tree, id, uint64(serial), uint64(serial))
		d.clientKeys = append(slices.Clone(d.clientKeys), k)
		return k.resource, []Mutation{counter, d.clientKeyMutation(k)}, nil
	})
}

// ReplaceClientKey changes a key, as rotating the key that wraps it does (400, 404, 412). Its id can't change.
func (d *Database) ReplaceClientKey(ref string, body []byte, p Precondition) (Resource, error) {
	tree, id, err := parseClientKey(body)
	if err != nil {
		return Resource{}, err
	}
	return d.changeClientKeys(func() (Resource, []Mutation, error) {
		at := d.findClientKey(ref)
		if d.deleted || at < 0 {
			return Resource{}, nil, notFound()
		}
		old := d.clientKeys[at]
		if err := p.check(old.resource.ETag); err != nil {
			return Resource{}, nil, err
		}
		if id != old.resource.ID {
			return Resource{}, nil, badRequest("The id of a client encryption key can't be changed: create another one.")
		}
		serial, counter := d.account.nextSerial()
		k := d.describeClientKey(tree, id, old.ordinal, uint64(serial))
		d.clientKeys = slices.Clone(d.clientKeys)
		d.clientKeys[at] = k
		return k.resource, []Mutation{counter, d.clientKeyMutation(k)}, nil
	})
}

// DeleteClientKey removes a key (404, 412).
func (d *Database) DeleteClientKey(ref string, p Precondition) error {
	_, err := d.changeClientKeys(func() (Resource, []Mutation, error) {
		at := d.findClientKey(ref)
		if d.deleted || at < 0 {
			return Resource{}, nil, notFound()
		}
		k := d.clientKeys[at]
		if err := p.check(k.resource.ETag); err != nil {
			return Resource{}, nil, err
		}
		d.clientKeys = slices.Delete(slices.Clone(d.clientKeys), at, at+1)
		return Resource{}, []Mutation{{Key: orderedKey(keyClientKey, d.resource.RID, k.ordinal)}}, nil
	})
	return err
}

// changeClientKeys runs a change under the account's and the database's locks, and waits for the journal without them.
func (d *Database) changeClientKeys(change func() (Resource, []Mutation, error)) (Resource, error) {
	a := d.account
	a.mu.Lock()
	d.mu.Lock()
	r, unit, err := change()
	d.mu.Unlock()
	wait := a.record(unit...)
	a.mu.Unlock()
	if err != nil {
		return Resource{}, err
	}
	return r, await(wait)
}

// ClientKey describes a key (404).
func (d *Database) ClientKey(ref string) (Resource, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if at := d.findClientKey(ref); at >= 0 {
		return d.clientKeys[at].resource, nil
	}
	return Resource{}, notFound()
}

// ClientKeys lists the keys in the order of their creation.
func (d *Database) ClientKeys() []Resource {
	d.mu.RLock()
	defer d.mu.RUnlock()
	list := make([]Resource, len(d.clientKeys))
	for i, k := range d.clientKeys {
		list[i] = k.resource
	}
	return list
}

// findClientKey needs d.mu.
func (d *Database) findClientKey(ref string) int {
	for _, key := range []func(Resource) string{func(r Resource) string { return r.ID }, func(r Resource) string { return r.RID }} {
		if i := slices.IndexFunc(d.clientKeys, func(k clientKey) bool { return key(k.resource) == ref }); i >= 0 {
			return i
		}
	}
	return -1
}

func (d *Database) describeClientKey(tree *node, id string, ordinal, version uint64) clientKey {
	rid := clientKeyRID(d.resource.RID, uint32(ordinal))
	return clientKey{ordinal: ordinal, resource: describe(tree, id, rid, d.resource.Self+"clientencryptionkeys/"+rid+"/", version, d.account.now())}
}

func (d *Database) clientKeyMutation(k clientKey) Mutation {
	return Mutation{Key: orderedKey(keyClientKey, d.resource.RID, k.ordinal), Value: k.resource.Body}
}

func (d *Database) restoreClientKey(record numbered) error {
	r, _, err := resourceOf(record.text)
	if err != nil {
		return err
	}
	d.clientKeys = append(d.clientKeys, clientKey{ordinal: record.n, resource: r})
	return nil
}

// parseClientKey checks what the SDKs send: the algorithm, the wrapped key and how it is wrapped.
func parseClientKey(body []byte) (*node, string, error) {
	tree, v, id, err := parseResource(body)
	if err != nil {
		return nil, "", err
	}
	for _, name := range []string{"encryptionAlgorithm", "wrappedDataEncryptionKey"} {
		if text, ok := v.Get(name).Str(); !ok || text == "" {
			return nil, "", badRequest("The input content is invalid because the required properties - '%s; ' - are missing", name)
		}
	}
	if v.Get("keyWrapMetadata").Kind() != value.Object {
		return nil, "", badRequest("The input content is invalid because the required properties - 'keyWrapMetadata; ' - are missing")
	}
	return tree, id, nil
}
