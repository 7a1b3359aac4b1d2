package history

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
)

// The reasons of refusals that the models know.
const (
	Conflict     = "conflict"
	NotFound     = "not found"
	Precondition = "precondition"
)

// Document is a document with an etag: "create", "replace" (with the ETag it was read with), "upsert" and "get" carry its Text;
// "increment" adds Number; "delete" removes it. Answers to writes carry the new ETag, to get and increment also Text and Number, as
// far as the client got them: an empty ETag is not compared. Key tells documents apart. A create or upsert sets the number to Number. A
// delete may be done though nothing was there: one that was sent again can't tell its own effect from another client's.
func Document() porcupine.Model {
	return model(document{}, func(s any, c Call, a Answer) []any {
		return asAny(s.(document).step(c, a)) //nolint:forcetypeassert // the model's own state
	}, true)
}

// document is the state of one document. An etag that nobody was told is empty until somebody reads it.
type document struct {
	exists bool
	text   string
	number int64
	etag   string
}

func (d document) step(c Call, a Answer) []document {
	if c.Verb == "get" {
		return d.read(a)
	}
	next, reason := d.write(c)
	switch {
	case c.Verb == "delete" && a.Outcome == Done:
		return []document{{}}
	case a.Outcome == Unknown && reason == "":
		return []document{d, next}
	case a.Outcome == Unknown:
		return []document{d}
	case a.Outcome == Refused && reason == a.Text:
		return []document{d}
	case a.Outcome == Done && reason == "":
		next.etag = a.ETag
		return []document{next}
	}
	return nil
}

func (d document) read(a Answer) []document {
	switch {
	case a.Outcome == Unknown, a.Outcome == Refused && a.Text == NotFound && !d.exists:
		return []document{d}
	case a.Outcome != Done || !d.exists || d.text != a.Text || d.number != a.Number:
		return nil
	case a.ETag == "" || d.etag == a.ETag:
		return []document{d}
	case d.etag == "":
		d.etag = a.ETag
		return []document{d}
	}
	return nil
}

// write is what a write makes of the document, or the reason why it is refused.
func (d document) write(c Call) (next document, reason string) {
	switch c.Verb {
	case "create":
		if d.exists {
			return d, Conflict
		}
	case "upsert":
	case "increment", "delete":
		if !d.exists {
			return d, NotFound
		}
	case "replace":
		if !d.exists {
			return d, NotFound
		}
		if d.etag != c.ETag {
			return d, Precondition
		}
	default:
		return d, fmt.Sprintf("no model of %q", c.Verb)
	}
	switch c.Verb {
	case "delete":
		return document{}, ""
	case "increment":
		d.number += c.Number
		d.etag = ""
		return d, ""
	}
	return document{exists: true, text: c.Text, number: c.Number}, ""
}

// Set is the set of keys that a query finds: "add" and "remove" a Key, "query" with all keys found, sorted and joined by commas,
// in the answer's Text. A removal may be done though nothing was there, as a delete in [Document].
func Set() porcupine.Model {
	return model("", func(s any, c Call, a Answer) []any {
		held := s.(string) //nolint:forcetypeassert // the model's own state
		has := slices.Contains(split(held), c.Key)
		switch c.Verb {
		case "query":
			return keep(s, a.Outcome == Unknown || a.Text == held)
		case "add":
			return change(s, a, with(held, c.Key), has, Conflict)
		case "remove":
			if a.Outcome == Done {
				return []any{without(held, c.Key)}
			}
			return change(s, a, without(held, c.Key), !has, NotFound)
		}
		return nil
	}, false)
}

// Tree is a parent and its children: "create child" with a Key, "delete" and "restore" of the whole, "children" with all keys,
// sorted and joined by commas, in the answer's Text. Children are listed when no delete or restore is on its way: those are not of
// one moment. A child can't be created while the parent is deleted.
func Tree() porcupine.Model {
	return model("+", func(s any, c Call, a Answer) []any {
		held := s.(string) //nolint:forcetypeassert // the model's own state
		alive, children := held[0] == '+', held[1:]
		switch c.Verb {
		case "children":
			return keep(s, a.Outcome == Unknown || (alive && a.Text == children) || (!alive && a.Text == ""))
		case "create child":
			return change(s, a, "+"+with(children, c.Key), !alive, NotFound)
		case "delete":
			return change(s, a, "-"+children, !alive, NotFound)
		case "restore":
			return change(s, a, "+"+children, alive, Conflict)
		}
		return nil
	}, false)
}

// Copies is a source and the copies of its value, which follow later: "write" sets the Text of the source, "read" finds a value
// in a copy, which the source has or had, and "read caught up" the one that it has.
func Copies() porcupine.Model {
	return model("", func(s any, c Call, a Answer) []any {
		had := split(s.(string)) //nolint:forcetypeassert // the model's own state
		switch c.Verb {
		case "write":
			return change(s, a, strings.Join(append(slices.Clone(had), c.Text), ","), false, "")
		case "read":
			return keep(s, a.Outcome == Unknown || a.Text == "" || slices.Contains(had, a.Text))
		case "read caught up":
			return keep(s, a.Outcome == Unknown || (len(had) == 0 && a.Text == "") || (len(had) > 0 && had[len(had)-1] == a.Text))
		}
		return nil
	}, false)
}

// change is what a write does that is refused for one reason, and then only.
func change(s any, a Answer, next string, refused bool, reason string) []any {
	switch {
	case a.Outcome == Unknown && !refused:
		return []any{s, next}
	case a.Outcome == Unknown:
		return []any{s}
	case a.Outcome == Refused:
		return keep(s, refused && a.Text == reason)
	}
	return keep(next, !refused)
}

func keep(s any, holds bool) []any {
	if !holds {
		return nil
	}
	return []any{s}
}

func split(keys string) []string {
	if keys == "" {
		return nil
	}
	return strings.Split(keys, ",")
}

func with(keys, key string) string {
	all := append(split(keys), key)
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ",")
}

func without(keys, key string) string {
	return strings.Join(slices.DeleteFunc(split(keys), func(k string) bool { return k == key }), ",")
}

func asAny(states []document) []any {
	out := make([]any, len(states))
	for i, s := range states {
		out[i] = s
	}
	return out
}

// model makes a porcupine model of steps over calls and answers; perKey says that keys have nothing to do with each other.
func model(initial any, step func(s any, c Call, a Answer) []any, perKey bool) porcupine.Model {
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{initial} },
		Step: func(s, input, output any) []any {
			return step(s, input.(Call), output.(Answer)) //nolint:forcetypeassert // the recorder's own
		},
		DescribeOperation: func(input, output any) string {
			return fmt.Sprintf("%+v -> %+v", input, output)
		},
	}
	if perKey {
		m.Partition = byKey
	}
	return m.ToModel()
}

func byKey(steps []porcupine.Operation) [][]porcupine.Operation {
	groups := map[string][]porcupine.Operation{}
	var keys []string
	for _, s := range steps {
		key := s.Input.(Call).Key //nolint:forcetypeassert // the recorder's own
		if groups[key] == nil {
			keys = append(keys, key)
		}
		groups[key] = append(groups[key], s)
	}
	out := make([][]porcupine.Operation, len(keys))
	for i, key := range keys {
		out[i] = groups[key]
	}
	return out
}
