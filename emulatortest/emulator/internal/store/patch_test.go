package store_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

func TestPatchItem(t *testing.T) {
	t.Parallel()
	const start = `{"id":"a","pk":"p","n":1,"s":"x","o":{"k":1.50},"list":[1,2,3],"a/b":1,"m~n":2}`
	tests := []struct {
		name, ops string
		want      string // the user's properties behind pk, or a part of the message
		status    int
	}{
		{"add", `[{"op":"add","path":"/new","value":{"x":[1.0]}}]`, `"n":1,"s":"x","o":{"k":1.5},"list":[1,2,3],"a/b":1,"m~n":2,"new":{"x":[1]}`, 0},
		{"add overwrites", `[{"op":"add","path":"/n","value":"y"}]`, `"n":"y","s":"x"`, 0},
		{"add without a value is null", `[{"op":"add","path":"/n"}]`, `"n":null,"s":"x"`, 0},
		{"add into an array", `[{"op":"add","path":"/list/1","value":9}]`, `"list":[1,9,2,3]`, 0},
		{"add at the end of an array", `[{"op":"add","path":"/list/3","value":9}]`, `"list":[1,2,3,9]`, 0},
		{"append", `[{"op":"add","path":"/list/-","value":9}]`, `"list":[1,2,3,9]`, 0},
		{"add behind the end", `[{"op":"add","path":"/list/4","value":9}]`, `For Operation(1): Add Operation`, 400},
		{"add below nothing", `[{"op":"set","path":"/n","value":2},{"op":"add","path":"/nonExistentParent/Child","value":1}]`, `For Operation(2): Add Operation can only create a child object of an existing node(array or object) and cannot create path recursively, no path found beyond: 'nonExistentParent'. Learn more: https://aka.ms/cosmosdbpatchdocs`, 400},
		{"add below a number", `[{"op":"add","path":"/n/x","value":1}]`, `no path found beyond: 'n'`, 400},
		{"set", `[{"op":"set","path":"/o/k","value":2}]`, `"o":{"k":2}`, 0},
		{"set creates", `[{"op":"set","path":"/o/l","value":2}]`, `"o":{"k":1.5,"l":2}`, 0},
		{"set an element", `[{"op":"set","path":"/list/0","value":9}]`, `"list":[9,2,3]`, 0},
		{"set appends", `[{"op":"set","path":"/list/-","value":9}]`, `"list":[1,2,3,9]`, 0},
		{"replace", `[{"op":"replace","path":"/list/2","value":9}]`, `"list":[1,2,9]`, 0},
		{"replace nothing", `[{"op":"replace","path":"/x","value":9}]`, `For Operation(1): Replace`, 400},
		{"replace behind the end", `[{"op":"replace","path":"/list/3","value":9}]`, `For Operation(1): Replace`, 400},
		{"remove", `[{"op":"remove","path":"/s"}]`, `"n":1,"o":{"k":1.5}`, 0},
		{"remove an element", `[{"op":"remove","path":"/list/0"}]`, `"list":[2,3]`, 0},
		{"remove nothing", `[{"op":"remove","path":"/x"}]`, `For Operation(1): Remove`, 400},
		{"incr", `[{"op":"incr","path":"/n","value":2}]`, `"n":3,`, 0},
		{"incr by a fraction", `[{"op":"incr","path":"/o/k","value":-0.25}]`, `"o":{"k":1.25}`, 0},
		{"incr creates", `[{"op":"incr","path":"/count","value":5}]`, `"count":5`, 0},
		{"incr an element", `[{"op":"incr","path":"/list/1","value":5}]`, `"list":[1,7,3]`, 0},
		{"incr beyond doubles", `[{"op":"set","path":"/n","value":9007199254740993},{"op":"incr","path":"/n","value":1}]`, `"n":9.007199254740992e+15`, 0},
		{"incr a string", `[{"op":"incr","path":"/s","value":5}]`, `number`, 400},
		{"incr by a string", `[{"op":"incr","path":"/n","value":"5"}]`, `number`, 400},
		{"incr behind the end", `[{"op":"incr","path":"/list/3","value":1}]`, `For Operation(1): Incr`, 400},
		{"move", `[{"op":"move","from":"/o/k","path":"/n"}]`, `"n":1.5,"s":"x","o":{}`, 0},
		{"move an element", `[{"op":"move","from":"/list/2","path":"/list/0"}]`, `"list":[3,1,2]`, 0},
		{"move nothing", `[{"op":"move","from":"/x","path":"/n"}]`, `For Operation(1): Move`, 400},
		{"move below itself", `[{"op":"move","from":"/o","path":"/o/k"}]`, `below itself`, 400},
		{"escaped pointer", `[{"op":"set","path":"/a~1b","value":3},{"op":"set","path":"/m~0n","value":4}]`, `"a/b":3,"m~n":4`, 0},
		{"number as a property", `[{"op":"set","path":"/o/0","value":3}]`, `"o":{"k":1.5,"0":3}`, 0},
		{"long index", `[{"op":"add","path":"/o/12345678901234567890","value":3}]`, `Token('12345678901234567890') has length longer than expected.`, 400},
		{"leading zero is no index", `[{"op":"set","path":"/list/01","value":3}]`, `For Operation(1)`, 400},
		{"id", `[{"op":"set","path":"/id","value":"b"}]`, `'id' can't be patched`, 400},
		{"partition key", `[{"op":"set","path":"/pk","value":"q"}]`, `partition key`, 400},
		{"system property", `[{"op":"set","path":"/_etag","value":"q"}]`, `'_etag' can't be patched`, 400},
		{"no path", `[{"op":"set","value":"q"}]`, `path is missing`, 400},
		{"no slash", `[{"op":"set","path":"n","value":"q"}]`, `JSON pointer`, 400},
		{"unknown operation", `[{"op":"test","path":"/n","value":1}]`, `none of add`, 400},
		{"no operations", `[]`, `no operations`, 400},
		{"eleven", `[` + strings.Repeat(`{"op":"incr","path":"/n","value":1},`, 10) + `{"op":"incr","path":"/n","value":1}]`, `can't exceed '10'`, 400},
		{"ten", `[` + strings.Repeat(`{"op":"incr","path":"/n","value":1},`, 9) + `{"op":"incr","path":"/n","value":1}]`, `"n":11`, 0},
		{"later operations see earlier ones", `[{"op":"add","path":"/x","value":{}},{"op":"add","path":"/x/y","value":1}]`, `"x":{"y":1}`, 0},
		{"too deep", `[{"op":"set","path":"/n","value":` + strings.Repeat("[", 128) + strings.Repeat("]", 128) + `}]`, `nest`, 400},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, store.Options{}, "")
			created := must(b.c.CreateItem(at("p"), []byte(start)))(t)
			p, err := store.ParsePatch([]byte(`{"operations":` + tt.ops + `}`))
			var r store.Result
			if err == nil {
				r, err = b.c.PatchItem(at("p"), "a", p)
			}
			wantError(t, err, tt.status, 0)
			if err != nil {
				if !strings.Contains(err.Error(), tt.want) {
					t.Errorf("message %q lacks %q", err, tt.want)
				}
				after := must(b.c.ReadItem(at("p"), "a"))(t)
				if !bytes.Equal(after.Body, created.Body) {
					t.Errorf("a refused patch changed the document to %s", after.Body)
				}
				return
			}
			if !bytes.Contains(r.Body, []byte(tt.want)) || r.ETag == created.ETag || r.Status != 200 {
				t.Errorf("got %s, want %s in it", r.Body, tt.want)
			}
			if n := bytes.Count(r.Body, []byte(`"_etag"`)); n != 1 {
				t.Errorf("%d etags in %s", n, r.Body)
			}
		})
	}
}

func TestPatchItem_conditions(t *testing.T) {
	t.Parallel()
	ops := []store.PatchOperation{{Kind: "incr", Path: "/n", Value: []byte("1")}}
	isOne := func(v value.Value) (bool, error) { n, _ := v.Get("n").Number(); return n == 1, nil }
	broken := func(value.Value) (bool, error) { return false, errors.New("the condition can't be evaluated") }
	tests := []struct {
		name              string
		id                string
		patch             store.Patch
		pre               store.Precondition
		status, substatus int
	}{
		{"met", "a", store.Patch{ConditionSQL: "from c where c.n = 1", Condition: isOne}, store.Precondition{}, 0, 0},
		{"not met", "b", store.Patch{Condition: isOne}, store.Precondition{}, 412, 1110},
		{"item is missing", "x", store.Patch{Condition: isOne}, store.Precondition{}, 404, 0},
		{"stale etag", "a", store.Patch{Condition: isOne}, store.Precondition{IfMatch: `"stale"`}, 412, 0},
		{"not compiled", "a", store.Patch{ConditionSQL: "from c where c.n = 1"}, store.Precondition{}, 400, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, store.Options{}, "")
			must(b.c.CreateItem(at("p"), doc("a", "p", 1)))(t)
			must(b.c.CreateItem(at("p"), doc("b", "p", 2)))(t)
			tt.patch.Operations = ops
			_, err := b.c.PatchItem(store.Call{Key: key("p"), Precondition: tt.pre}, tt.id, tt.patch)
			wantError(t, err, tt.status, tt.substatus)
		})
	}
	b := setup(t, store.Options{}, "")
	must(b.c.CreateItem(at("p"), doc("a", "p", 1)))(t)
	if _, err := b.c.PatchItem(at("p"), "a", store.Patch{Operations: ops, Condition: broken}); err == nil {
		t.Error("a condition that fails let the patch through")
	}
}

func TestParsePatch(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body, condition string
		operations, status    int
	}{
		{"object", `{"condition":"from c where c.n = 'x'","operations":[{"op":"set","path":"/a","value":1.0}]}`, "from c where c.n = 'x'", 1, 0},
		{"bare array", `[{"op":"remove","path":"/a"},{"op":"remove","path":"/b"}]`, "", 2, 0},
		{"null condition", `{"condition":null,"operations":[{"op":"remove","path":"/a"}]}`, "", 1, 0},
		{"condition is a number", `{"condition":1,"operations":[{"op":"remove","path":"/a"}]}`, "", 0, 400},
		{"condition with bare quotes", `{"condition":"from c where c.n = "x"","operations":[]}`, "", 0, 400},
		{"operations is an object", `{"operations":{}}`, "", 0, 400},
		{"a string", `"x"`, "", 0, 400},
		{"operation is a number", `[1]`, "", 0, 400},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, err := store.ParsePatch([]byte(tt.body))
			wantError(t, err, tt.status, 0)
			if err == nil && (len(p.Operations) != tt.operations || p.ConditionSQL != tt.condition) {
				t.Errorf("got %+v", p)
			}
		})
	}
}
