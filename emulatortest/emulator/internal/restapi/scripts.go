package restapi

import (
	"net/http"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// Stored procedures, triggers and user-defined functions: /dbs/{db}/colls/{c}/sprocs, /triggers, /udfs
//
// Supported: create (201; 400 without an id or a body, for a trigger also without triggerType and triggerOperation; 409 when
// the id is taken), upsert, list and query, read (404), replace (200; 400 for another id; 412), delete (204; 412).
// Differs from the service: a script is compiled when it is run, so one that is no JavaScript can be stored; the number
// of scripts is not limited; their size is 256 KB.

func (c *call) createScript() (*result, *store.Error) {
	container, e := c.parentOf()
	if e != nil {
		return nil, e
	}
	resource, created, err := container.CreateScript(c.link.scripts, c.body, c.opts.upsert, c.precondition())
	if err != nil {
		return nil, refused(err)
	}
	if created {
		return described(http.StatusCreated, resource), nil
	}
	return described(http.StatusOK, resource), nil
}

func (c *call) listScripts() (*result, *store.Error) {
	container, scripts, e := c.scripts()
	if e != nil {
		return nil, e
	}
	return c.listed(container.Resource().RID, scriptFeed(c.link.scripts), bodiesOf(scripts))
}

func (c *call) queryScripts() (*result, *store.Error) {
	container, scripts, e := c.scripts()
	if e != nil {
		return nil, e
	}
	return c.queryResources(container.Resource().RID, scriptFeed(c.link.scripts), scripts)
}

func (c *call) scripts() (*store.Container, []store.Resource, *store.Error) {
	container, e := c.parentOf()
	if e != nil {
		return nil, nil, e
	}
	scripts, err := container.Scripts(c.link.scripts)
	return container, scripts, refused(err)
}

func (c *call) readScript() (*result, *store.Error) {
	container, e := c.parentOf()
	if e != nil {
		return nil, e
	}
	resource, err := container.ScriptResource(c.link.scripts, c.link.resource)
	if err != nil {
		return nil, refused(err)
	}
	return c.unlessUnchanged(described(http.StatusOK, resource)), nil
}

func (c *call) replaceScript() (*result, *store.Error) {
	container, e := c.parentOf()
	if e != nil {
		return nil, e
	}
	resource, err := container.ReplaceScript(c.link.scripts, c.link.resource, c.body, c.precondition())
	if err != nil {
		return nil, refused(err)
	}
	return described(http.StatusOK, resource), nil
}

func (c *call) deleteScript() (*result, *store.Error) {
	container, e := c.parentOf()
	if e != nil {
		return nil, e
	}
	if err := container.DeleteScript(c.link.scripts, c.link.resource, c.precondition()); err != nil {
		return nil, refused(err)
	}
	return &result{status: http.StatusNoContent, charge: metadataCharge}, nil
}

// scriptFeed is the name of the entries in a feed of scripts.
func scriptFeed(kind store.ScriptKind) string {
	return [...]string{"StoredProcedures", "Triggers", "UserDefinedFunctions"}[kind]
}
