package restapi

import (
	"net/http"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/faults"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/script"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// Triggers: x-ms-documentdb-pre-trigger-include and x-ms-documentdb-post-trigger-include of a create, upsert, replace or
// delete of an item
//
// Supported: one trigger before and one after the operation, in one transaction with it: what one of them throws undoes all.
// A trigger before the operation may change the document, one after it the answer. 400 for a trigger that doesn't exist, is of
// the other type or is for another operation, for more than one of a type, and for any other request.
// Differs from the service: which operations a trigger for Update or for Create takes part in when an item is upserted is not
// known; here an upsert runs triggers for All and for Upsert.

// triggers reports whether the request names any.
func (o *options) triggers() bool { return o.preTrigger+o.postTrigger != "" }

// checkTriggers refuses triggers where none can run.
func (o *options) checkTriggers(op faults.Operation) *store.Error {
	if !o.triggers() {
		return nil
	}
	switch op {
	case faults.CreateItem, faults.UpsertItem, faults.ReplaceItem, faults.DeleteItem:
		return nil
	}
	return badRequest("One of the specified inputs is invalid: triggers run with the create, upsert, replace and delete of one item only.")
}

// trigger finds the trigger that a header names; nil when the header is empty.
func (c *call) trigger(container *store.Container, header, kind, operation string) (*script.Script, *store.Error) {
	if header == "" {
		return nil, nil //nolint:nilnil // no trigger is no error
	}
	if strings.Contains(header, ",") {
		return nil, badRequest("Only one " + kind + "-trigger can be run with an operation.")
	}
	t, err := container.Script(store.Trigger, header)
	if err != nil {
		return nil, badRequest("The trigger " + header + " does not exist in this container.")
	}
	if t.Type != kind {
		return nil, badRequest("The trigger " + t.ID + " is not a " + kind + "-trigger.")
	}
	operation = strings.ToLower(operation)
	if t.Operation != "all" && t.Operation != operation && (t.Operation != "update" || operation != "replace") {
		return nil, badRequest("The trigger " + t.ID + " is not one for this operation: its triggerOperation is " + t.Operation + ".")
	}
	return &script.Script{ID: t.ID, Body: t.Body}, nil
}

// onTriggeredItem runs an operation on an item with its triggers.
func (c *call) onTriggeredItem(kind store.OperationKind, operation, id string) (*result, *store.Error) {
	container, e := c.parentOf()
	if e != nil {
		return nil, e
	}
	before, e := c.trigger(container, c.opts.preTrigger, "pre", operation)
	if e != nil {
		return nil, e
	}
	after, e := c.trigger(container, c.opts.postTrigger, "post", operation)
	if e != nil {
		return nil, e
	}
	if err := container.Admit(); err != nil {
		return nil, refused(err)
	}
	call := c.itemCall()
	var done store.Result
	answer, err := container.Transact(call, func(tx *store.Transaction) (err error) {
		done, err = c.triggered(container, tx, before, after, operation,
			store.Operation{Kind: kind, ID: id, Body: c.body, Precondition: call.Precondition, Unindexed: call.Unindexed})
		return err
	})
	container.Spend(answer.Charge)
	r := positioned(container, answer)
	if err != nil {
		return r, scriptRefusal(err)
	}
	r.status, r.body, r.etag = done.Status, done.Body, done.ETag
	return r, nil
}

// triggered runs the trigger before the operation, the operation and the trigger after it.
func (c *call) triggered(
	container *store.Container, tx *store.Transaction, before, after *script.Script, operation string, op store.Operation,
) (store.Result, error) {
	environment := c.environment(container, tx)
	environment.Logging = false // the log's header belongs to stored procedures
	if op.Kind == store.OpDelete {
		op.Body = nil
	}
	if before != nil {
		outcome, err := script.RunBefore(c.ctx, *before, operation, op.Body, environment)
		if err != nil {
			return store.Result{}, err
		}
		if op.Kind != store.OpDelete {
			op.Body = outcome.Body
		}
	}
	done, err := tx.Do(op)
	if err != nil || after == nil {
		return done, err
	}
	outcome, err := script.RunAfter(c.ctx, *after, operation, op.Body, done.Body, environment)
	if err != nil {
		return store.Result{}, err
	}
	if done.Status != http.StatusNoContent {
		done.Body = outcome.Body
	}
	return done, nil
}
