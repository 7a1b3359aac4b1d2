package engine

import (
	"context"
	"fmt"
	"math"

	"github.com/cosmosgrove/grove/internal/merge"
	"github.com/cosmosgrove/grove/tenantitem"
)

// function is an aggregate function.
type function uint8

const (
	countOf function = iota + 1
	SumOf
	AvgOf
	MinOf
	MaxOf
)

var functionNames = [...]string{countOf: "COUNT", SumOf: "SUM", AvgOf: "AVG", MinOf: "MIN", MaxOf: "MAX"}

// partial is what one partition says of its documents: how many have the
// field, and their sum or extreme. Means can't be put together, so they are
// asked for as sums.
type partial struct {
	Count int64       `json:"n"`
	Value merge.Value `json:"v"`
}

// sql selects a partial under two names.
func (f function) sql(field, count, value string) string {
	switch f {
	case countOf:
		return "COUNT(1) AS " + count
	case AvgOf:
		f = SumOf
	case SumOf, MinOf, MaxOf:
	}
	return fmt.Sprintf("COUNT(%s) AS %s, %s(%s) AS %s", field, count, functionNames[f], field, value)
}

// total puts partials together.
type total struct {
	function function
	field    string
	Count    int64
	Sum      float64
	Extreme  merge.Value
}

func (a *total) add(p partial) error {
	if a.Count += p.Count; p.Count == 0 || a.function == countOf {
		return nil
	}
	switch a.function {
	case SumOf, AvgOf:
		n, ok := p.Value.Number()
		if !ok {
			return a.unsupported("a document holds something else than a number there")
		}
		if a.Sum += n; math.IsInf(a.Sum, 0) {
			return a.unsupported("the sum passes the range of a double")
		}
	case MinOf, MaxOf:
		if p.Value.IsZero() {
			return a.unsupported("a document holds an array or an object there")
		}
		if c := merge.Compare(p.Value, a.Extreme); a.Extreme.IsZero() || (c < 0) == (a.function == MinOf) {
			a.Extreme = p.Value
		}
	case countOf:
	}
	return nil
}

func (a *total) unsupported(reason string) error {
	return &unsupportedError{
		clause: functionNames[a.function] + "(" + a.field + ")",
		reason: reason,
		hint:   "narrow the query to documents that fit",
	}
}

// result is the aggregate's value; undefined when nothing was aggregated.
func (a *total) result() merge.Value {
	switch {
	case a.function == countOf:
		return merge.FromCount(a.Count)
	case a.function == SumOf:
		return merge.FromNumber(a.Sum)
	case a.function == AvgOf && a.Count > 0:
		return merge.FromNumber(a.Sum / float64(a.Count))
	}
	return a.Extreme
}

// Aggregate runs one function over one field.
func (c *Collection) Aggregate(ctx context.Context, op string, at *Partition, f function, field string, q Query) (total, error) {
	k := Call{Collection: c, Op: op, At: at}
	ctx = k.Begin(ctx)
	a := total{function: f, field: field}
	err := k.StartQuery(ctx)
	if err == nil {
		err = k.aggregate(ctx, &a, q)
	}
	if err = k.End(err); err != nil {
		return total{}, err
	}
	return a, nil
}

func (k *Call) aggregate(ctx context.Context, a *total, q Query) error {
	column, err := k.Collection.numberField(a.field)
	if err != nil {
		return err
	}
	if q.limit > 0 {
		return &unsupportedError{clause: "LIMIT with " + functionNames[a.function], reason: "an aggregate has one result", hint: "leave Limit out"}
	}
	q.order = nil
	p, err := k.PlanFor(q, "SELECT "+a.function.sql(column, "n", "v")+" FROM "+RootAlias)
	if err != nil {
		return err
	}
	err = gather(ctx, k, p, maxGroups, func(parts []partial) error {
		for _, part := range parts {
			if err := a.add(part); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if a.Count == 0 && a.function != SumOf {
		return ErrNotFound
	}
	if _, ok := a.result().Number(); !ok {
		return a.unsupported("a document holds something else than a number there")
	}
	return nil
}

// numberField returns the SQL of a field that may hold numbers.
func (c *Collection) numberField(path string) (string, error) {
	field, ok := c.model.Field(path)
	if !ok {
		return "", c.model.UnknownField(path)
	}
	if field.Kind != tenantitem.KindNumber && field.Kind != tenantitem.KindAny {
		return "", &tenantitem.InvalidError{What: "field " + path, Reason: "it does not hold numbers", Hint: "name a number field"}
	}
	return fieldSQL(path), nil
}
