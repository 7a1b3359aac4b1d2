package store

import (
	"bytes"
	"encoding/binary"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// Container is one container. A handle outlives its container: then every verb is 404/1003.
type Container struct {
	account  *Account
	database *Database
	serial   uint32
	name     string
	rid      string
	ridBytes []byte
	self     string

	// sequence numbers items and etags; it never goes back, so neither is ever used twice.
	sequence atomic.Uint64
	forced   atomic.Pointer[forcedLimit]

	// topology guards the fields below; see the package's comment.
	topology   sync.RWMutex
	resource   Resource
	definition *Definition
	partitions []*partition // live, in the order of their bounds
	nextRange  int
	// generation counts splits and merges.
	generation uint64
	lag        time.Duration
	deleted    bool
	scripts    []script // in the order of their creation
}

// CreateContainer adds a container from the request's body (400, 404/1003, 409). What the body leaves out is filled in
// as the service does; a partition key without a version gets version 2. The container starts with one physical partition
// for each 10,000 request units a second that it asks for, or with [Options.Partitions] when that is more.
func (d *Database) CreateContainer(body []byte, t Throughput) (*Container, error) {
	tree, v, id, err := parseResource(body)
	if err != nil {
		return nil, err
	}
	if err := t.validate(); err != nil {
		return nil, err
	}
	if err := fillDefaults(tree, v); err != nil {
		return nil, err
	}
	a := d.account
	a.mu.Lock()
	c, unit, err := d.addContainer(tree, id, t)
	wait := a.record(unit...)
	a.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return c, await(wait)
}

// addContainer needs account.mu.
func (d *Database) addContainer(tree *node, id string, t Throughput) (*Container, []Mutation, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.deleted {
		return nil, nil, parentNotFound()
	}
	if slices.ContainsFunc(d.containers, func(c *Container) bool { return c.name == id }) {
		return nil, nil, refuse(http.StatusConflict, 0, textConflict)
	}
	a := d.account
	c := &Container{account: a, database: d, name: id, lag: a.lag}
	unit := make([]Mutation, 1, 4)
	c.serial, unit[0] = a.nextSerial()
	c.setRID(containerRID(d.resource.RID, c.serial))
	if err := c.describe(tree, uint64(c.serial)); err != nil {
		return nil, nil, err
	}
	if err := d.checkEncryptionKeys(c.definition.Properties); err != nil {
		return nil, nil, err
	}
	bounds := epk.SplitEvenly(c.definition.Scheme, max(a.opts.Partitions, t.partitions()))
	for i := range len(bounds) - 1 {
		p := c.newPartition(bounds[i], bounds[i+1], nil, newState())
		c.partitions = append(c.partitions, p)
		unit = append(unit, p.mutation())
	}
	unit = append(unit, c.mutation())
	if !t.isZero() {
		unit = append(unit, a.addOffer(c.resource, t)...)
	} else if !a.hasOffer(d.resource.RID) {
		unit = append(unit, a.addOffer(c.resource, Throughput{Manual: defaultThroughput})...)
	}
	d.containers = append(d.containers, c)
	return c, unit, nil
}

func (c *Container) setRID(rid string) {
	c.rid = rid
	c.ridBytes, _ = decodeRID(rid)
	c.self = c.database.resource.Self + "colls/" + rid + "/"
}

// describe renders the container's properties and takes them in. It needs topology, or a container nobody knows yet.
func (c *Container) describe(tree *node, version uint64) error {
	r := describe(tree, c.name, c.rid, c.self, version, c.account.now(), "docs", "sprocs", "triggers", "udfs", "conflicts")
	v, err := value.Parse(r.Body)
	if err != nil {
		return badRequest("The container's properties can't be kept: %v.", err)
	}
	definition, err := define(v)
	if err != nil {
		return err
	}
	c.resource, c.definition = r, definition
	return nil
}

func (c *Container) mutation() Mutation {
	return Mutation{Key: keyContainer + c.rid, Value: encodeContainer(c)}
}

// Resource describes the container.
func (c *Container) Resource() Resource {
	c.topology.RLock()
	defer c.topology.RUnlock()
	return c.resource
}

// Definition returns the container's present definition. It must not be changed.
func (c *Container) Definition() *Definition {
	c.topology.RLock()
	defer c.topology.RUnlock()
	return c.definition
}

// DatabaseResource describes the database that holds the container.
func (c *Container) DatabaseResource() Resource { return c.database.resource }

// Replace changes the container's properties (400, 404, 412). The id, the partition key and the unique keys can't change.
func (c *Container) Replace(body []byte, p Precondition) (Resource, error) {
	tree, v, id, err := parseResource(body)
	if err != nil {
		return Resource{}, err
	}
	c.topology.Lock()
	wait, err := c.replace(tree, v, id, p)
	r := c.resource
	c.topology.Unlock()
	if err != nil {
		return Resource{}, err
	}
	return r, await(wait)
}

func (c *Container) replace(tree *node, v value.Value, id string, p Precondition) (wait func() error, err error) {
	if c.deleted {
		return nil, notFound()
	}
	if err := p.check(c.resource.ETag); err != nil {
		return nil, err
	}
	old := c.definition
	if id != c.name {
		return nil, badRequest("The id of a container can't be changed: create another one and copy the items.")
	}
	if err := c.keepFixed(tree, v, "partitionKey", old); err != nil {
		return nil, err
	}
	if err := c.keepFixed(tree, v, "uniqueKeyPolicy", old); err != nil {
		return nil, err
	}
	if err := c.keepFixed(tree, v, "clientEncryptionPolicy", old); err != nil {
		return nil, err
	}
	if err := fillPolicies(tree, v); err != nil {
		return nil, err
	}
	if err := keepVectors(old.Properties, v); err != nil {
		return nil, err
	}
	if err := c.describe(tree, c.sequence.Add(1)<<32|uint64(c.serial)); err != nil {
		return nil, err
	}
	if !sameTTL(old.DefaultTTL, c.definition.DefaultTTL) {
		for _, p := range c.partitions {
			p.resetDeadlines(c.definition)
		}
	}
	return c.account.record(c.mutation()), nil
}

// keepFixed refuses another value of a property that can't change, and puts back one that the body leaves out.
func (c *Container) keepFixed(tree *node, v value.Value, name string, old *Definition) error {
	was, is := old.Properties.Get(name), v.Get(name)
	if is.IsUndefined() || is.Kind() == value.Null {
		tree.remove(name)
		if !was.IsUndefined() {
			tree.set(name, leaf(was.String()))
		}
		return nil
	}
	if !sameFixed(name, was, is) {
		return badRequest("The %s of a container can't be changed: create another container and copy the items.", name)
	}
	if !was.IsUndefined() {
		tree.set(name, leaf(was.String()))
	}
	return nil
}

// sameFixed compares what counts; a client may leave out what was filled in.
func sameFixed(name string, was, is value.Value) bool {
	if name == "partitionKey" {
		version, given := is.Get("version").Number()
		return value.Equal(was.Get("paths"), is.Get("paths")) &&
			(!given || version == 0 || value.Equal(was.Get("version"), is.Get("version")))
	}
	if name == "clientEncryptionPolicy" {
		return value.Equal(was, is)
	}
	a, _ := was.Get("uniqueKeys").Array()
	b, _ := is.Get("uniqueKeys").Array()
	return value.Equal(value.FromArray(a), value.FromArray(b))
}

func sameTTL(a, b *int64) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// Delete removes the container (404, 412).
func (c *Container) Delete(p Precondition) error {
	a, d := c.account, c.database
	a.mu.Lock()
	d.mu.Lock()
	i := slices.Index(d.containers, c)
	var err error
	if i < 0 {
		err = notFound()
	} else {
		err = p.check(c.Resource().ETag)
	}
	if err == nil {
		d.containers = slices.Delete(d.containers, i, i+1)
	}
	d.mu.Unlock()
	wait := nothingToWrite
	if err == nil {
		wait = a.record(c.drop()...)
	}
	a.mu.Unlock()
	if err != nil {
		return err
	}
	return await(wait)
}

// drop marks the container as gone, waiting for requests under way, and says what to forget. It needs account.mu.
func (c *Container) drop() []Mutation {
	c.topology.Lock()
	defer c.topology.Unlock()
	c.deleted = true
	c.partitions = nil
	unit := []Mutation{{Key: keyContainer + c.rid}}
	for _, kind := range []string{keyRange, keyItem, keyVersion, keyScript} {
		unit = append(unit, Mutation{Key: kind + c.rid + "/", Prefix: true})
	}
	return append(unit, c.account.dropOffer(c.resource)...)
}

// Usage is what a container holds.
type Usage struct {
	Documents int
	Bytes     int64
}

// Usage counts the container's items and their bytes, for the quota headers. Expired items count until they are swept.
func (c *Container) Usage() Usage {
	c.topology.RLock()
	defer c.topology.RUnlock()
	var u Usage
	for _, p := range c.partitions {
		p.mu.RLock()
		u.Documents += p.state.byOrdinal.Len()
		u.Bytes += p.state.bytes
		p.mu.RUnlock()
	}
	return u
}

// itemRID is the rid of the item with an ordinal.
func (c *Container) itemRID(ordinal uint64) string { return childRID(c.ridBytes, ridTypeItem, ordinal) }

// ItemID is the id of the item that has a rid; empty when there is none.
func (c *Container) ItemID(rid string) string {
	raw, ok := decodeRID(rid)
	ordinal, isItem := itemOrdinal(rid)
	if !ok || !isItem || !bytes.HasPrefix(raw, c.ridBytes) {
		return ""
	}
	c.topology.RLock()
	defer c.topology.RUnlock()
	for _, p := range c.partitions {
		p.mu.RLock()
		it, ok := p.state.byOrdinal.Get(&item{ordinal: ordinal})
		p.mu.RUnlock()
		if ok {
			return it.id
		}
	}
	return ""
}

// orderedKey is a journal key under which numbers sort as numbers.
func orderedKey(kind, rid string, n uint64) string {
	return kind + rid + "/" + string(binary.BigEndian.AppendUint64(nil, n))
}
