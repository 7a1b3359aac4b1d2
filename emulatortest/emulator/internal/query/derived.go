package query

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"math"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/eval"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// derivation is a subquery that a query reads from as if its rows were items.
type derivation struct {
	request Request // the subquery's, with the meter of the whole
	read    Metrics // what reading the items cost
}

// derive takes a subquery that the whole query reads from, as in SELECT COUNT(1) FROM (SELECT DISTINCT c.a FROM c), out of the
// request when its rows depend on more than one item each: the request is left to read those rows. It returns nil when
// the query can be run as it is.
func derive(req *Request) *derivation {
	inner := foldingSource(req.Query)
	if inner == nil {
		return nil
	}
	sub := *req
	sub.Query, sub.Continuation, sub.MaxItems, sub.MaxBytes, sub.EndLate, sub.Pages = inner, "", -1, math.MaxInt, false, nil
	// The rows have neither an index nor computed properties of their own.
	req.Query, req.Policy, req.Computed = overRows(req.Query), nil, nil
	return &derivation{request: sub}
}

// rows runs the subquery.
func (d *derivation) rows(ctx context.Context, req *Request) (Slice, error) {
	page, err := Run(ctx, d.request)
	if err != nil {
		return nil, err
	}
	rows := make(Slice, len(page.Documents))
	for i, document := range page.Documents {
		if !req.meter.Keep(eval.DecodedBytes(document) + documentBytes) {
			return nil, req.meter.Err()
		}
		v, err := value.Parse(document)
		if err != nil {
			return nil, err
		}
		rows[i] = Item{RID: rowRID(i), Raw: document, Value: v}
	}
	d.read = page.Metrics
	return rows, nil
}

// foldingSource returns the subquery that a query reads from, if that one's rows aren't those of single items.
func foldingSource(q *sql.Query) *sql.Query {
	inner := firstSubquery(q)
	if inner == nil || !inner.Select.Distinct && !inner.Aggregates() && foldingSource(inner) == nil {
		return nil
	}
	return inner
}

func firstSubquery(q *sql.Query) *sql.Query {
	if q.From == nil {
		return nil
	}
	switch s := q.From.Sources[0].(type) {
	case *sql.SubquerySource:
		return s.Query
	case *sql.IteratorSource:
		return s.Query
	}
	return nil
}

// overRows returns the query with items in the place of its first source's subquery.
func overRows(q *sql.Query) *sql.Query {
	alias := q.From.Sources[0].Binding()
	row := sql.Path{Root: alias, Container: true}
	var first sql.Source = &sql.PathSource{Path: row}
	if _, iterates := q.From.Sources[0].(*sql.IteratorSource); iterates {
		first = &sql.IteratorSource{Alias: alias, Path: &row}
	}
	outer, from := *q, *q.From
	from.Sources = append([]sql.Source{first}, q.From.Sources[1:]...)
	outer.From = &from
	return &outer
}

// rowRID makes up a resource id for a row, so that a continuation token can name it.
func rowRID(n int) string {
	owner := make([]byte, 8, 16)
	return base64.StdEncoding.EncodeToString(binary.LittleEndian.AppendUint64(owner, uint64(n)+1))
}
