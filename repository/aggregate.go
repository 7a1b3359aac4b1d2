package repository

import (
	"context"
	"fmt"
	"math"

	"github.com/cosmosgrove/grove/internal/merge"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Sum adds up a number field of the documents that q looks for. Documents
// without the field count for nothing; without any, the sum is 0. The service
// calculates in doubles: above 2^53 the result is rounded.
//
// It fails with [ErrInvalid] when the field does not hold numbers, and with
// [ErrUnsupported] when q has a limit or a document holds something else
// there. The order of q does not matter.
func (r *Reader[T]) Sum(ctx context.Context, field string, q Query) (float64, error) {
	a, err := r.aggregate(ctx, "Sum", sumOf, field, q)
	return a.sum, err
}

// Avg is the mean of a number field over the documents that have it, and
// [ErrNotFound] when none has; otherwise as [Reader.Sum].
func (r *Reader[T]) Avg(ctx context.Context, field string, q Query) (float64, error) {
	a, err := r.aggregate(ctx, "Avg", avgOf, field, q)
	if err != nil {
		return 0, err
	}
	return a.sum / float64(a.count), nil
}

// Min is the smallest value of a number field, and [ErrNotFound] when no
// document that q looks for has it; otherwise as [Reader.Sum]. The smallest
// text or time is found with First and OrderBy.
func (r *Reader[T]) Min(ctx context.Context, field string, q Query) (float64, error) {
	a, err := r.aggregate(ctx, "Min", minOf, field, q)
	n, _ := a.extreme.Number()
	return n, err
}

// Max is the largest value of a number field; see [Reader.Min].
func (r *Reader[T]) Max(ctx context.Context, field string, q Query) (float64, error) {
	a, err := r.aggregate(ctx, "Max", maxOf, field, q)
	n, _ := a.extreme.Number()
	return n, err
}

// function is an aggregate function.
type function uint8

const (
	countOf function = iota + 1
	sumOf
	avgOf
	minOf
	maxOf
)

var functionNames = [...]string{countOf: "COUNT", sumOf: "SUM", avgOf: "AVG", minOf: "MIN", maxOf: "MAX"}

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
	case avgOf:
		f = sumOf
	case sumOf, minOf, maxOf:
	}
	return fmt.Sprintf("COUNT(%s) AS %s, %s(%s) AS %s", field, count, functionNames[f], field, value)
}

// total puts partials together.
type total struct {
	function function
	field    string
	count    int64
	sum      float64
	extreme  merge.Value
}

func (a *total) add(p partial) error {
	if a.count += p.Count; p.Count == 0 || a.function == countOf {
		return nil
	}
	switch a.function {
	case sumOf, avgOf:
		n, ok := p.Value.Number()
		if !ok {
			return a.unsupported("a document holds something else than a number there")
		}
		if a.sum += n; math.IsInf(a.sum, 0) {
			return a.unsupported("the sum passes the range of a double")
		}
	case minOf, maxOf:
		if p.Value.IsZero() {
			return a.unsupported("a document holds an array or an object there")
		}
		if c := merge.Compare(p.Value, a.extreme); a.extreme.IsZero() || (c < 0) == (a.function == minOf) {
			a.extreme = p.Value
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
		return merge.FromCount(a.count)
	case a.function == sumOf:
		return merge.FromNumber(a.sum)
	case a.function == avgOf && a.count > 0:
		return merge.FromNumber(a.sum / float64(a.count))
	}
	return a.extreme
}

// aggregate runs one function over one field.
func (r *Reader[T]) aggregate(ctx context.Context, op string, f function, field string, q Query) (total, error) {
	k := call{core: r.repo.core, op: op, at: &r.at}
	ctx = k.begin(ctx)
	a := total{function: f, field: field}
	err := r.startQuery(ctx, &k)
	if err == nil {
		err = k.aggregate(ctx, &a, q)
	}
	if err = k.end(err); err != nil {
		return total{}, err
	}
	return a, nil
}

func (k *call) aggregate(ctx context.Context, a *total, q Query) error {
	column, err := k.core.numberField(a.field)
	if err != nil {
		return err
	}
	if q.limit > 0 {
		return &unsupportedError{clause: "LIMIT beside " + functionNames[a.function], reason: "an aggregate has one result", hint: "leave Limit out"}
	}
	q.order = nil
	p, err := k.planFor(q, "SELECT "+a.function.sql(column, "n", "v")+" FROM "+rootAlias)
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
	if a.count == 0 && a.function != sumOf {
		return ErrNotFound
	}
	if _, ok := a.result().Number(); !ok {
		return a.unsupported("a document holds something else than a number there")
	}
	return nil
}

// numberField returns the SQL of a field that may hold numbers.
func (c *core) numberField(path string) (string, error) {
	field, ok := c.model.Field(path)
	if !ok {
		return "", c.model.UnknownField(path)
	}
	if field.Kind != tenantitem.KindNumber && field.Kind != tenantitem.KindAny {
		return "", &tenantitem.InvalidError{What: "field " + path, Reason: "it does not hold numbers", Hint: "name a number field"}
	}
	return fieldSQL(path), nil
}
