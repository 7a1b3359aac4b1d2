package restapi

import (
	"errors"
	"net/http"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/query"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/script"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// scriptCollection is the container as a script sees it: one logical partition within a transaction.
type scriptCollection struct {
	call      *call
	container *store.Container
	tx        *store.Transaction
}

// SelfLink implements [script.Collection].
func (s *scriptCollection) SelfLink() string { return s.container.Resource().Self }

// AltLink implements [script.Collection].
func (s *scriptCollection) AltLink() string {
	return altContentPath(s.container.DatabaseResource().ID, s.container.Resource().ID)
}

// Do implements [script.Collection].
func (s *scriptCollection) Do(op script.Operation) (script.Reply, error) {
	if op.RID != "" {
		id, err := s.tx.IDOf(op.RID)
		if err != nil {
			return script.Reply{}, operationRefusal(err)
		}
		op.ID = id
	}
	switch op.Kind {
	case script.Query:
		return s.query(op)
	case script.List:
		return s.list(op)
	}
	kinds := map[script.Kind]store.OperationKind{
		script.Read: store.OpRead, script.Create: store.OpCreate, script.Upsert: store.OpUpsert,
		script.Replace: store.OpReplace, script.Delete: store.OpDelete,
	}
	r, err := s.tx.Do(store.Operation{
		Kind: kinds[op.Kind], ID: op.ID, Body: op.Body, Unindexed: op.Unindexed,
		Precondition: store.Precondition{IfMatch: op.IfMatch, IfNoneMatch: op.IfNoneMatch},
	})
	if err != nil {
		return script.Reply{Charge: r.Charge}, operationRefusal(err)
	}
	return script.Reply{Status: r.Status, Body: r.Body, Charge: r.Charge}, nil
}

// Next implements [script.Collection].
func (s *scriptCollection) Next(after string, most int) ([][]byte, string, error) {
	if after != "" && !strings.HasPrefix(after, listTokenPrefix) {
		return nil, "", &script.Error{Status: http.StatusBadRequest, Message: "The continuation is not one of this feed."}
	}
	var documents [][]byte
	last := after
	size := 0
	for d := range s.tx.Snapshot(true).Items(strings.TrimPrefix(after, listTokenPrefix)) {
		documents = append(documents, d.Raw)
		size += d.Size()
		last = listTokenPrefix + d.RID
		if len(documents) == most {
			break
		}
	}
	s.tx.Spend(store.RequestChargeQuery(0, len(documents), size))
	return documents, last, nil
}

func (s *scriptCollection) list(op script.Operation) (script.Reply, error) {
	most := op.PageSize
	if most == 0 {
		most = defaultPage
	}
	documents, last, err := s.Next(op.Continuation, most)
	if err != nil {
		return script.Reply{}, err
	}
	reply := script.Reply{Status: http.StatusOK, Body: arrayOf(documents)}
	if len(documents) == most {
		more, _, err := s.Next(last, 1)
		if err != nil {
			return script.Reply{}, err
		}
		if len(more) > 0 {
			reply.Continuation = last
		}
	}
	return reply, nil
}

func (s *scriptCollection) query(op script.Operation) (script.Reply, error) {
	inner := *s.call
	inner.body = op.Body
	body, e := inner.parseQueryBody()
	if e != nil {
		return script.Reply{}, operationRefusal(e)
	}
	properties := s.container.Definition().Properties
	computed, err := query.ParseComputed(properties.Get("computedProperties"))
	if err != nil {
		return script.Reply{}, operationRefusal(queryRefusal(err))
	}
	// The context has no user-defined functions: a script can't run inside another one.
	page, err := query.Run(s.call.ctx, query.Request{
		Query:        body.query,
		Parameters:   body.parameters,
		Source:       snapshotSource{s.tx.Snapshot(false)},
		Identity:     s.container.Resource().RID,
		Continuation: op.Continuation,
		MaxItems:     op.PageSize,
		Policy:       query.ParsePolicy(properties.Get("indexingPolicy")),
		Computed:     computed,
		Planar:       isPlanar(properties),
		Now:          s.call.h.cfg.Clock,
		Random:       s.call.h.cfg.Random.float64,
		Memory:       s.call.h.queries,
	})
	if err != nil {
		return script.Reply{}, operationRefusal(queryRefusal(err))
	}
	charge := store.RequestChargeQuery(1, page.Metrics.RetrievedDocuments, page.Metrics.RetrievedBytes)
	s.tx.Spend(charge)
	return script.Reply{Status: http.StatusOK, Body: arrayOf(page.Documents), Continuation: page.Continuation, Charge: charge}, nil
}

// arrayOf writes documents as a JSON array.
func arrayOf(documents [][]byte) []byte {
	b := []byte{'['}
	for i, d := range documents {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, d...)
	}
	return append(b, ']')
}

// operationRefusal is a refusal as the script's callback gets it.
func operationRefusal(err error) error {
	var e *store.Error
	if errors.As(err, &e) {
		return &script.Error{Status: e.Status, Substatus: e.Substatus, Message: e.Message}
	}
	return err
}
