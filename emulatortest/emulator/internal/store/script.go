package store

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// ScriptKind says what kind of script a container keeps.
type ScriptKind uint8

// The kinds of scripts.
const (
	StoredProcedure ScriptKind = iota
	Trigger
	UserDefinedFunction
)

// segment is the kind's part of a link, ridType its mark in a rid.
func (k ScriptKind) segment() string { return [...]string{"sprocs", "triggers", "udfs"}[k] }

func (k ScriptKind) ridType() uint64 { return [...]uint64{0x8, 0x7, 0x6}[k] }

// script is one stored procedure, trigger or user-defined function.
type script struct {
	kind     ScriptKind
	ordinal  uint64
	resource Resource
	value    value.Value
}

// Script is a stored script as it is run.
type Script struct {
	ID, Body string
	// Type and Operation are a trigger's triggerType and triggerOperation, in lower case.
	Type, Operation string
}

// CreateScript adds a script from the request's body (400, 404/1003, 409). With upsert it replaces one of the same id;
// created reports that there was none.
func (c *Container) CreateScript(kind ScriptKind, body []byte, upsert bool, p Precondition) (r Resource, created bool, err error) {
	tree, id, err := kind.parse(body)
	if err != nil {
		return Resource{}, false, err
	}
	r, err = c.changeScripts(func() (Resource, []Mutation, error) {
		at := c.findScript(kind, id)
		switch {
		case c.deleted:
			return Resource{}, nil, parentNotFound()
		case at < 0:
			created = true
			return c.putScript(kind, tree, id, c.sequence.Add(1), at)
		case !upsert:
			return Resource{}, nil, refuse(http.StatusConflict, 0, textConflict)
		}
		if err := p.check(c.scripts[at].resource.ETag); err != nil {
			return Resource{}, nil, err
		}
		return c.putScript(kind, tree, id, c.scripts[at].ordinal, at)
	})
	return r, created, err
}

// ReplaceScript changes a script (400, 404, 412). Its id can't change.
func (c *Container) ReplaceScript(kind ScriptKind, ref string, body []byte, p Precondition) (Resource, error) {
	tree, id, err := kind.parse(body)
	if err != nil {
		return Resource{}, err
	}
	return c.changeScripts(func() (Resource, []Mutation, error) {
		at, err := c.requireScript(kind, ref)
		if err != nil {
			return Resource{}, nil, err
		}
		old := c.scripts[at]
		if err := p.check(old.resource.ETag); err != nil {
			return Resource{}, nil, err
		}
		if id != old.resource.ID {
			return Resource{}, nil, badRequest("The id of a script can't be changed: create another one.")
		}
		return c.putScript(kind, tree, id, old.ordinal, at)
	})
}

// DeleteScript removes a script (404, 412).
func (c *Container) DeleteScript(kind ScriptKind, ref string, p Precondition) error {
	_, err := c.changeScripts(func() (Resource, []Mutation, error) {
		at, err := c.requireScript(kind, ref)
		if err != nil {
			return Resource{}, nil, err
		}
		s := c.scripts[at]
		if err := p.check(s.resource.ETag); err != nil {
			return Resource{}, nil, err
		}
		c.scripts = slices.Delete(slices.Clone(c.scripts), at, at+1)
		return Resource{}, []Mutation{{Key: c.scriptKey(s)}}, nil
	})
	return err
}

// changeScripts runs a change under the lock of the scripts, and waits for the journal without it.
func (c *Container) changeScripts(change func() (Resource, []Mutation, error)) (Resource, error) {
	c.topology.Lock()
	r, unit, err := change()
	wait := c.account.record(unit...)
	c.topology.Unlock()
	if err != nil {
		return Resource{}, err
	}
	return r, await(wait)
}

// putScript needs topology. It puts a script at a place in the list, or at its end when the place is negative.
func (c *Container) putScript(kind ScriptKind, tree *node, id string, ordinal uint64, at int) (Resource, []Mutation, error) {
	rid := childRID(c.ridBytes, kind.ridType(), ordinal)
	r := describe(tree, id, rid, c.self+kind.segment()+"/"+rid+"/", c.sequence.Add(1), c.account.now())
	v, err := value.Parse(r.Body)
	if err != nil {
		return Resource{}, nil, badRequest("The script can't be kept: %v.", err)
	}
	s := script{kind: kind, ordinal: ordinal, resource: r, value: v}
	c.scripts = slices.Clone(c.scripts) // a list that was given out stays as it is
	if at < 0 {
		c.scripts = append(c.scripts, s)
	} else {
		c.scripts[at] = s
	}
	// The container's record holds the number that the next script or item gets.
	return r, []Mutation{c.mutation(), {Key: c.scriptKey(s), Value: encodeScript(s)}}, nil
}

// ScriptResource describes a script (404).
func (c *Container) ScriptResource(kind ScriptKind, ref string) (Resource, error) {
	c.topology.RLock()
	defer c.topology.RUnlock()
	at, err := c.requireScript(kind, ref)
	if err != nil {
		return Resource{}, err
	}
	return c.scripts[at].resource, nil
}

// Script finds a script to run (404).
func (c *Container) Script(kind ScriptKind, ref string) (Script, error) {
	c.topology.RLock()
	defer c.topology.RUnlock()
	at, err := c.requireScript(kind, ref)
	if err != nil {
		return Script{}, err
	}
	v := c.scripts[at].value
	s := Script{ID: c.scripts[at].resource.ID}
	s.Body, _ = v.Get("body").Str()
	s.Type, _ = v.Get("triggerType").Str()
	s.Operation, _ = v.Get("triggerOperation").Str()
	s.Type, s.Operation = strings.ToLower(s.Type), strings.ToLower(s.Operation)
	return s, nil
}

// Scripts lists the scripts of one kind in the order of their creation (404/1003).
func (c *Container) Scripts(kind ScriptKind) ([]Resource, error) {
	c.topology.RLock()
	defer c.topology.RUnlock()
	if c.deleted {
		return nil, parentNotFound()
	}
	var list []Resource
	for _, s := range c.scripts {
		if s.kind == kind {
			list = append(list, s.resource)
		}
	}
	return list, nil
}

// requireScript needs topology.
func (c *Container) requireScript(kind ScriptKind, ref string) (int, error) {
	if c.deleted {
		return 0, parentNotFound()
	}
	if at := c.findScript(kind, ref); at >= 0 {
		return at, nil
	}
	return 0, notFound()
}

// findScript needs topology.
func (c *Container) findScript(kind ScriptKind, ref string) int {
	for _, key := range []func(Resource) string{func(r Resource) string { return r.ID }, func(r Resource) string { return r.RID }} {
		if i := slices.IndexFunc(c.scripts, func(s script) bool { return s.kind == kind && key(s.resource) == ref }); i >= 0 {
			return i
		}
	}
	return -1
}

// parse reads a script's resource (400).
func (k ScriptKind) parse(body []byte) (*node, string, error) {
	tree, v, id, err := parseResource(body)
	if err != nil {
		return nil, "", err
	}
	return tree, id, k.check(v)
}

// check refuses properties that the service does not take. Enumerations are compared without case, since SDKs differ.
func (k ScriptKind) check(v value.Value) error {
	if _, ok := v.Get("body").Str(); !ok {
		return badRequest("The input content is invalid because the required properties - 'body; ' - are missing")
	}
	if k != Trigger {
		return nil
	}
	for _, property := range []struct {
		name   string
		values []string
	}{
		{"triggerType", []string{"pre", "post"}},
		{"triggerOperation", []string{"all", "create", "update", "delete", "replace", "upsert"}},
	} {
		text, ok := v.Get(property.name).Str()
		if !ok || !slices.Contains(property.values, strings.ToLower(text)) {
			return badRequest("The %s of a trigger must be one of %s.", property.name, strings.Join(property.values, ", "))
		}
	}
	return nil
}

// scriptRecord is how the journal keeps a script.
type scriptRecord struct {
	Kind ScriptKind      `json:"kind"`
	Body json.RawMessage `json:"body"`
}

// scriptKey is the script's key in the journal; scripts come back in the order of their creation.
func (c *Container) scriptKey(s script) string { return orderedKey(keyScript, c.rid, s.ordinal) }

func encodeScript(s script) []byte {
	text, err := json.Marshal(scriptRecord{Kind: s.kind, Body: s.resource.Body})
	if err != nil { // a body that was parsed before
		return nil
	}
	return text
}

// restoreScript takes a script in from the journal.
func (c *Container) restoreScript(record numbered) error {
	var r scriptRecord
	if err := json.Unmarshal(record.text, &r); err != nil || r.Kind > UserDefinedFunction {
		return fmt.Errorf("a script: %w", errRecord)
	}
	resource, v, err := resourceOf(r.Body)
	if err != nil {
		return err
	}
	c.scripts = append(c.scripts, script{kind: r.Kind, ordinal: record.n, resource: resource, value: v})
	return nil
}
