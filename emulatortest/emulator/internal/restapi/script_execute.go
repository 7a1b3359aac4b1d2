package restapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/script"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// Execute stored procedure: POST /dbs/{db}/colls/{c}/sprocs/{id} with a JSON array of arguments
//
// Supported: one transaction in the logical partition of x-ms-documentdb-partitionkey (400/1001 without it), kept when the
// procedure ends and undone when it throws or calls abort; 200 with the response's body as JSON, an empty string when the
// procedure sets none; 400 with the script's error, whose number is the substatus; 408 after five seconds; the log in
// x-ms-documentdb-script-log-results when x-ms-documentdb-script-enable-logging is true. Trigger headers are 400.
// Differs from the service: the procedure works on the state at its start. When another request changes the physical
// partition meanwhile, it is run again while others wait; the service answers 449 or 429/3084 in some such cases.

// executeCharge is what running a script costs beside its operations.
const executeCharge = 1

func (c *call) executeProcedure() (*result, *store.Error) {
	if c.link.scripts != store.StoredProcedure {
		return nil, fail(http.StatusMethodNotAllowed, 0, "Only stored procedures can be executed.")
	}
	container, e := c.parentOf()
	if e != nil {
		return nil, e
	}
	procedure, err := container.Script(store.StoredProcedure, c.link.resource)
	if err != nil {
		return nil, refused(err)
	}
	arguments, e := c.arguments()
	if e != nil {
		return placed(container), e
	}
	if err := container.Admit(); err != nil {
		return nil, refused(err)
	}
	var outcome script.Outcome
	answer, err := container.Transact(c.itemCall(), func(tx *store.Transaction) error {
		var err error
		outcome, err = script.RunProcedure(c.ctx, script.Script{ID: procedure.ID, Body: procedure.Body}, arguments, c.environment(container, tx))
		return err
	})
	answer.Charge += executeCharge
	container.Spend(answer.Charge)
	r := positioned(container, answer)
	if outcome.Log != "" {
		r.set("x-ms-documentdb-script-log-results", outcome.Log)
	}
	if err != nil {
		return r, scriptRefusal(err)
	}
	r.status, r.body = http.StatusOK, outcome.Body
	return r, nil
}

// arguments checks the body of an execution: an array, or nothing.
func (c *call) arguments() ([]byte, *store.Error) {
	body := bytes.TrimSpace(c.body)
	if len(body) == 0 {
		return []byte("[]"), nil
	}
	if body[0] != '[' || !json.Valid(body) {
		return nil, badRequest("The body of an execution must be a JSON array of the procedure's arguments.")
	}
	return body, nil
}

// environment is what a script works with: the transaction that it is part of.
func (c *call) environment(container *store.Container, tx *store.Transaction) script.Environment {
	return script.Environment{
		World:      c.scriptWorld(),
		Collection: &scriptCollection{call: c, container: container, tx: tx},
		Logging:    isTrue(c.header, "x-ms-documentdb-script-enable-logging"),
		Header:     c.header,
	}
}

// scriptRefusal turns what ended a script, or the transaction around it, into an answer.
func scriptRefusal(err error) *store.Error {
	var e *script.Error
	if errors.As(err, &e) {
		return fail(e.Status, e.Substatus, "Message: "+e.Message)
	}
	return refused(err)
}

// scriptWorld is what scripts see of the world: the emulator's clock and its chance.
func (c *call) scriptWorld() script.World {
	cfg := &c.h.cfg
	return script.World{Limits: cfg.Scripts, Now: cfg.Clock, Random: cfg.Random.float64, NewID: cfg.Random.activityID}
}
