package vector

import (
	"strconv"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// The functions that compare vectors, as policies and options name them, in lower case.
const (
	Cosine     = "cosine"
	DotProduct = "dotproduct"
	Euclidean  = "euclidean"
)

// Embedding is what a policy says of the vectors at one path.
type Embedding struct {
	Function string
	DataType string
}

// Policy maps the paths of a container's vectors to their embeddings. The zero Policy has none.
type Policy struct{ byPath map[string]Embedding }

// ParsePolicy reads the vectorEmbeddingPolicy of a container's properties, undefined included.
func ParsePolicy(v value.Value) Policy {
	list, _ := v.Get("vectorEmbeddings").Array()
	p := Policy{byPath: make(map[string]Embedding, len(list))}
	for _, e := range list {
		path, _ := e.Get("path").Str()
		p.byPath[strings.Join(names(path), "\x00")] = Embedding{Function: Cosine, DataType: "float32"}.With(e)
	}
	return p
}

// With overrides what an embedding says by the members of an object, as far as they are there.
func (e Embedding) With(options value.Value) Embedding {
	if function, ok := options.Get("distanceFunction").Str(); ok {
		e.Function = strings.ToLower(function)
	}
	if dataType, ok := options.Get("dataType").Str(); ok {
		e.DataType = strings.ToLower(dataType)
	}
	return e
}

// names splits a path such as /a/b or /"a b"/c.
func names(path string) []string {
	var list []string
	for rest := path; strings.HasPrefix(rest, "/"); {
		rest = rest[1:]
		if quoted, err := strconv.QuotedPrefix(rest); err == nil && strings.HasPrefix(rest, `"`) {
			name, err := strconv.Unquote(quoted)
			if err != nil {
				return nil
			}
			list, rest = append(list, name), rest[len(quoted):]
			continue
		}
		name, _, _ := strings.Cut(rest, "/")
		list, rest = append(list, name), rest[len(name):]
	}
	return list
}

// Of returns what holds for a call of VectorDistance: the options of the call, then the policy of the path that one of its
// vectors is, then the defaults. The item's properties are those of root.
func (p Policy) Of(call *sql.Call, root string, parameters map[string]value.Value) Embedding {
	e := Embedding{Function: Cosine}
	for _, arg := range call.Args[:min(2, len(call.Args))] {
		name, steps, ok := sql.ResolvePath(arg)
		if !ok || name != root || len(steps) == 0 {
			continue
		}
		path := make([]string, len(steps))
		for i, s := range steps {
			path[i] = s.Name
		}
		if found, ok := p.byPath[strings.Join(path, "\x00")]; ok {
			e = found
			break
		}
	}
	const options = 3
	if len(call.Args) > options {
		e = e.With(constant(call.Args[options], parameters))
	}
	return e
}

// constant returns the value of an object of literals, or of a parameter.
func constant(e sql.Expr, parameters map[string]value.Value) value.Value {
	switch e := e.(type) {
	case *sql.Literal:
		return e.Value
	case *sql.Parameter:
		return parameters[e.Name]
	case *sql.ObjectExpr:
		members := make([]value.Member, len(e.Members))
		for i, m := range e.Members {
			members[i] = value.Member{Name: m.Name, Value: constant(m.Value, parameters)}
		}
		return value.FromObject(members)
	}
	return value.Value{}
}

// Ascending reports whether the most similar vectors are those whose distance is least.
func (e Embedding) Ascending() bool { return e.Function == Euclidean }
