package store

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// image is the journal's records, sorted by kind; they refer to each other across the order of the keys.
type image struct {
	account                       []byte
	databases, containers, offers []resourceRecord
	ranges                        map[string][]rangeRecord // by container rid
	items, versions, scripts      map[string][]numbered    // by container rid
	clientKeys, users             map[string][]numbered    // by database rid
}

type numbered struct {
	n    uint64
	text []byte
}

// restore fills an empty account from the journal.
func (a *Account) restore() error {
	im := image{
		ranges: map[string][]rangeRecord{}, items: map[string][]numbered{}, versions: map[string][]numbered{},
		scripts: map[string][]numbered{}, clientKeys: map[string][]numbered{}, users: map[string][]numbered{},
	}
	if err := a.opts.Journal.Load(im.add); err != nil {
		return fmt.Errorf("reading the journal: %w", err)
	}
	if im.account == nil {
		return nil
	}
	var err error
	if a.serial, err = decodeAccount(im.account); err != nil {
		return fmt.Errorf("restoring the account: %w", err)
	}
	for _, records := range [][]resourceRecord{im.databases, im.containers, im.offers} {
		slices.SortFunc(records, func(x, y resourceRecord) int { return int(x.Serial) - int(y.Serial) })
	}
	for _, r := range im.databases {
		d := &Database{account: a, serial: r.Serial}
		if d.resource, _, err = resourceOf(r.Body); err != nil {
			return fmt.Errorf("restoring a database: %w", err)
		}
		for _, record := range im.clientKeys[d.resource.RID] {
			if err := d.restoreClientKey(record); err != nil {
				return fmt.Errorf("restoring a client encryption key: %w", err)
			}
		}
		for _, record := range im.users[d.resource.RID] {
			if err := d.restoreUser(record); err != nil {
				return fmt.Errorf("restoring a user: %w", err)
			}
		}
		a.databases = append(a.databases, d)
	}
	for _, r := range im.containers {
		if err := a.restoreContainer(r, &im); err != nil {
			return fmt.Errorf("restoring a container: %w", err)
		}
	}
	for _, r := range im.offers {
		if err := a.restoreOffer(r); err != nil {
			return fmt.Errorf("restoring an offer: %w", err)
		}
	}
	return nil
}

// add takes in one record of the journal.
func (im *image) add(key string, text []byte) error {
	if key == keyAccount {
		im.account = text
		return nil
	}
	kind, rest := key[:min(2, len(key))], key[min(2, len(key)):]
	switch kind {
	case keyDatabase:
		return addResource(&im.databases, text)
	case keyContainer:
		return addResource(&im.containers, text)
	case keyOffer:
		return addResource(&im.offers, text)
	case keyRange:
		rid, _, _ := strings.Cut(rest, "/")
		var r rangeRecord
		if err := json.Unmarshal(text, &r); err != nil {
			return fmt.Errorf("a range: %w", errRecord)
		}
		im.ranges[rid] = append(im.ranges[rid], r)
		return nil
	case keyItem, keyVersion, keyScript, keyClientKey, keyUser:
		rid, number, _ := strings.Cut(rest, "/")
		if len(number) != 8 {
			return fmt.Errorf("an item's key: %w", errRecord)
		}
		records := im.items
		switch kind {
		case keyVersion:
			records = im.versions
		case keyScript:
			records = im.scripts
		case keyClientKey:
			records = im.clientKeys
		case keyUser:
			records = im.users
		}
		records[rid] = append(records[rid], numbered{n: binary.BigEndian.Uint64([]byte(number)), text: text})
		return nil
	}
	return fmt.Errorf("a key of an unknown kind: %w (was the folder written by a newer version?)", errRecord)
}

func addResource(records *[]resourceRecord, text []byte) error {
	var r resourceRecord
	if err := json.Unmarshal(text, &r); err != nil {
		return errRecord
	}
	*records = append(*records, r)
	return nil
}

func (a *Account) restoreContainer(r resourceRecord, im *image) error {
	i := slices.IndexFunc(a.databases, func(d *Database) bool { return d.resource.RID == r.Database })
	if i < 0 {
		return fmt.Errorf("its database is missing: %w", errRecord)
	}
	d := a.databases[i]
	resource, v, err := resourceOf(r.Body)
	if err != nil {
		return err
	}
	c := &Container{account: a, database: d, serial: r.Serial, name: resource.ID, resource: resource, generation: r.Generation}
	c.setRID(resource.RID)
	if c.definition, err = define(v); err != nil {
		return err
	}
	sequence := r.Sequence
	for _, record := range im.ranges[c.rid] {
		p := c.newPartition(record.Min, record.Max, record.Parents, newState())
		p.id, p.created, p.state.lsn = record.ID, time.Unix(record.Created, 0), record.LSN
		p.version = firstVersion + record.Merges
		sequence = max(sequence, record.Sequence)
		c.partitions = append(c.partitions, p)
	}
	c.sequence.Store(sequence)
	c.nextRange = r.NextRange
	slices.SortFunc(c.partitions, func(x, y *partition) int { return strings.Compare(x.min, y.min) })
	if err := c.checkTiling(); err != nil {
		return err
	}
	if err := c.restoreItems(im.items[c.rid]); err != nil {
		return err
	}
	for _, record := range im.versions[c.rid] {
		v, err := decodeVersion(c, record.n, record.text)
		if err != nil {
			return err
		}
		it := v.after
		if it == nil {
			it = v.before
		}
		p := c.owner(it.epk)
		p.history = append(p.history, v)
	}
	for _, p := range c.partitions {
		p.sortHistory()
	}
	for _, record := range im.scripts[c.rid] {
		if err := c.restoreScript(record); err != nil {
			return err
		}
	}
	d.containers = append(d.containers, c)
	return nil
}

// checkTiling makes sure that every hash has an owner.
func (c *Container) checkTiling() error {
	at := ""
	for _, p := range c.partitions {
		if p.min != at {
			return fmt.Errorf("its ranges leave a gap: %w", errRecord)
		}
		at = p.max
	}
	if at != "FF" {
		return fmt.Errorf("its ranges don't reach the end: %w", errRecord)
	}
	return nil
}

func (a *Account) restoreOffer(r resourceRecord) error {
	resource, v, err := resourceOf(r.Body)
	if err != nil {
		return err
	}
	t, _, err := parseOffer(r.Body)
	if err != nil {
		return err
	}
	o := &offer{serial: r.Serial, resource: resource, throughput: t, budget: &budget{}, highest: max(r.Highest, t.highest())}
	o.target, _ = v.Get("offerResourceId").Str()
	o.targetSelf, _ = v.Get("resource").Str()
	a.offers = append(a.offers, o)
	return nil
}
