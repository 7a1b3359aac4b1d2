package engine

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"

	"github.com/cosmosgrove/grove/internal/codec"
)

// A write whose answer was lost has been applied, will be applied later, or
// never will be. What the documents look like decides, and only what proves
// something counts:
//
//   - A mark of the write in a document: it was applied. All operations of a
//     batch have one fate, so that one mark proves all of them.
//   - A document that still has the etag which an operation requires: nothing
//     was applied so far, and a second copy can't do harm beside the first,
//     since whichever comes second is refused. It may be sent again.
//   - Marks of the version that an operation requires, without its own: some
//     other write took that version's place, and this one never will.
//   - Documents that were seen and are gone, where all that the write wants is
//     that they are gone: it counts as applied, whoever removed them.
//   - A document that the write would create and that is not there, when every
//     attempt was answered 503: the service says that it processed none.
//
// Otherwise, that a document is not there, or is there and looks as before,
// proves nothing: the replica that was asked may be behind, the request may
// still be under way, and another writer may have removed what it left.
//
// The loop that asks is in retry.go, what a mark looks like in marks.go. What an earlier run of a bulk
// did that is resumed, decides recognise in bulk_send.go.
type outcome uint8

const (
	unknown outcome = iota
	// applied: the write took effect.
	applied
	// repeatable: it took no effect so far, and may be sent again.
	repeatable
	// refused: it took no effect and never will.
	refused
)

// outcomeOf decides about operations of one transaction by their documents as
// they are now. unavailable says that every attempt was answered 503, by which
// the service says that it did not process it.
func outcomeOf(ops []Operation, now map[string]*Marked, unavailable bool) outcome {
	for i := range ops {
		if d := now[ops[i].ID]; ops[i].Mark != "" && d != nil && d.carries(ops[i].Mark) {
			return applied
		}
	}
	verdict := unknown
	for i := range ops {
		op, d := &ops[i], now[ops[i].ID]
		switch {
		case op.Kind == OpRead:
		case op.ETag != "" && op.ETag != noDocument && d != nil && d.ETag == op.ETag:
			return repeatable
		case op.Before != nil && d != nil && op.Before.leadsTo(d):
			verdict = refused
		}
	}
	switch {
	case verdict != unknown:
		return verdict
	case allGone(ops, now):
		return applied
	case unavailable && createsMissing(ops, now):
		return repeatable
	}
	return unknown
}

// allGone reports that a transaction only wants documents gone that were seen,
// and that they are.
func allGone(ops []Operation, now map[string]*Marked) bool {
	for i := range ops {
		if !ops[i].goal || now[ops[i].ID] != nil {
			return false
		}
	}
	return true
}

// createsMissing reports that a transaction creates a document that is not
// there, which its second copy could do only once.
func createsMissing(ops []Operation, now map[string]*Marked) bool {
	creates := false
	for i := range ops {
		if ops[i].Kind == OpDelete {
			return false // it may be the one that it creates
		}
		creates = creates || ops[i].sentAs() == OpCreate && now[ops[i].ID] == nil
	}
	return creates
}

// storedNow reads what the documents of operations tell of their last writes:
// one query, or a point read where there is only one. It goes on when the
// budget is used up: a write that was sent is not left halfway.
func (k *Call) storedNow(ctx context.Context, at *Partition, ops []Operation) (map[string]*Marked, error) {
	found := make(map[string]*Marked, len(ops))
	seen := make(map[string]bool, len(ops))
	ids := make([]any, 0, len(ops))
	for i := range ops {
		if ops[i].Kind != OpRead && !seen[ops[i].ID] {
			seen[ops[i].ID] = true
			ids = append(ids, ops[i].ID)
		}
	}
	look := Call{Collection: k.Collection, Op: k.Op, At: at, Exempt: true, Watch: k.Watch}
	groups := k.byCollection(ops)
	if len(groups) == 1 { // it need not be that of the call
		for c := range groups {
			look.Collection = c
		}
	}
	if len(groups) > 1 {
		for c, group := range groups {
			part := Call{Collection: c, Op: k.Op, At: at, Watch: k.Watch}
			stored, err := part.storedNow(ctx, at, group)
			if err != nil {
				return nil, err
			}
			maps.Copy(found, stored)
		}
		return found, nil
	}
	if len(ids) == 1 {
		look.ID, _ = ids[0].(string)
		raw, err := look.ReadItem(ctx, at)
		if StatusOf(err) == http.StatusNotFound {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		found[look.ID] = ReadMarks(raw)
		return found, nil
	}
	w := SQLWriter{layout: look.Collection.layout}
	w.Text.WriteString(`SELECT VALUE {"id": c["id"], "_etag": c["_etag"], "` + marksField + `": c["` + marksField + `"], "` + markField + `": c["` + markField + `"]} FROM c WHERE `)
	if err := In("id", ids...).Write(&w); err != nil {
		return nil, err
	}
	st := Statement{Text: w.Text.String(), Params: w.Params}
	err := EachPage(ctx, &look, at, st, len(ids), func(rows []json.RawMessage) (bool, error) {
		for _, row := range rows {
			var head struct {
				ID string `json:"id"`
			}
			if err := codec.Decode(row, &head); err != nil {
				return false, &decodeError{err}
			}
			found[head.ID] = ReadMarks(row)
		}
		return true, nil
	})
	return found, err
}

// byCollection groups operations by their entity type, where their documents
// stand in different forms.
func (k *Call) byCollection(ops []Operation) map[*Collection][]Operation {
	groups := map[*Collection][]Operation{}
	mapped := false
	for i := range ops {
		if ops[i].Kind == OpRead {
			continue
		}
		c := k.coreOf(&ops[i])
		groups[c] = append(groups[c], ops[i])
		mapped = mapped || c.layout != nil
	}
	if !mapped {
		return nil
	}
	return groups
}

// resultsOf makes up the answer of a transaction that was applied: the etags
// where they are its own, and what its reads had held.
func (k *Call) resultsOf(ctx context.Context, at *Partition, ops []Operation, now map[string]*Marked) ([]Result, error) {
	results := make([]Result, len(ops))
	look := Call{Collection: k.Collection, Op: k.Op, At: at, Exempt: true, Watch: k.Watch}
	for i := range ops {
		op := &ops[i]
		if op.spare {
			continue
		}
		if op.Kind == OpRead || op.Kind == OpPatch && k.contents {
			look.ID, look.Collection = op.ID, k.coreOf(op)
			body, err := look.ReadItem(ctx, at)
			if err != nil {
				return nil, err
			}
			results[i].Body = body
		}
		d := now[op.ID]
		switch {
		case d == nil || op.Kind == OpDelete || op.Kind == OpRead:
		case op.Mark == "":
			results[i].ETag = overtaken // another operation's mark proved it
		default:
			results[i].ETag = d.etagOf(op.Mark)
		}
	}
	return results, nil
}
