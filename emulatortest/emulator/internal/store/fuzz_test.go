package store_test

import (
	"errors"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// mustBeRefusal accepts success and the service's kind of error, never another status.
func mustBeRefusal(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	var e *store.Error
	if !errors.As(err, &e) || e.Status < 400 || e.Status >= 500 || e.Message == "" {
		t.Fatalf("not a refusal: %#v", err)
	}
}

func FuzzItemBody(f *testing.F) {
	for _, seed := range []string{
		`{"id":"a","pk":"p"}`, `{"id":"a","pk":{}}`, "{ \"id\" : \"\\u0061\" , \"pk\":null, \"n\": -0.0e-1 }", `{"id":"a","id":"b","_rid":1,"x":{"id":[{}]}}`,
		`[]`, `{}`, `"`, `{"id":"a","ttl":-1,"email":[1,{"a":"\\\""}]}`, "{\"id\":\"\xff\"}", `{"id":"a","\u0069d":"b"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		b := setup(t, store.Options{Partitions: 2}, `{"id":"c","partitionKey":{"paths":["/pk","/a/b"]},"defaultTtl":-1,"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/email"]}]}}`)
		r, err := b.c.CreateItem(store.Call{KeyFromBody: true}, body)
		mustBeRefusal(t, err)
		if err != nil {
			return
		}
		given, stored := parse(t, body), parse(t, r.Body)
		members, _ := given.Members()
		for _, m := range members {
			switch m.Name {
			case "_rid", "_self", "_etag", "_attachments", "_ts", "_lsn":
				continue
			}
			if !value.Equal(m.Value, stored.Get(m.Name)) {
				t.Fatalf("member %q changed from %s to %s", m.Name, m.Value, stored.Get(m.Name))
			}
		}
		id, _ := stored.Get("id").Str()
		k := must(b.c.KeyOf(r.Body))(t)
		read := must(b.c.ReadItem(store.Call{Key: k}, id))(t)
		if string(read.Body) != string(r.Body) {
			t.Fatalf("created %s, read %s", r.Body, read.Body)
		}
		again := must(b.c.ReplaceItem(store.Call{Key: k}, id, r.Body))(t)
		if len(again.Body) != len(r.Body) {
			t.Fatalf("replaced with itself, %s became %s", r.Body, again.Body)
		}
	})
}

func FuzzPatch(f *testing.F) {
	for _, seed := range []string{
		`[{"op":"add","path":"/list/0","value":1}]`, `[{"op":"move","from":"/o/k","path":"/list/-"}]`, `[{"op":"remove","path":"/list/2"},{"op":"incr","path":"/n","value":1e308}]`,
		`{"operations":[{"op":"set","path":"/~0~1~2","value":{"a":[]}}],"condition":"from c"}`, `[{"op":"move","from":"/o","path":"/o"}]`,
		`[{"op":"move","from":"/list/0","path":"/list/0/x"}]`, `[{"op":"set","path":"/","value":1}]`, `[{"op":"set","path":"//a","value":1}]`,
		`[{"op":"add","path":"/o/00000000000000000000","value":1}]`, `[{"op":"incr","path":"/n","value":-9223372036854775808}]`, `[{"path":"/a"}]`, `[[]]`, `{`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := store.ParsePatch(body)
		mustBeRefusal(t, err)
		if err != nil {
			return
		}
		p.ConditionSQL = ""
		b := setup(t, store.Options{}, "")
		created := must(b.c.CreateItem(at("p"), []byte(`{"id":"a","pk":"p","n":1,"s":"x","o":{"k":1.50},"list":[1,[2],{"x":3}]}`)))(t)
		r, err := b.c.PatchItem(at("p"), "a", p)
		mustBeRefusal(t, err)
		read := must(b.c.ReadItem(at("p"), "a"))(t)
		if err != nil {
			if string(read.Body) != string(created.Body) {
				t.Fatalf("refused, and yet %s", read.Body)
			}
			return
		}
		v := parse(t, r.Body)
		if id, _ := v.Get("id").Str(); id != "a" || string(read.Body) != string(r.Body) {
			t.Fatalf("patched %s, read %s", r.Body, read.Body)
		}
	})
}

func FuzzSessionToken(f *testing.F) {
	for _, seed := range []string{"0:-1#1", "0:1#2#3=4", "0:1,1:2", ":", "0:-1#", "0:-1#1#", "99999999999999999999:1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		b := setup(t, store.Options{}, "")
		_, err := b.c.Snapshot(store.Scope{}, token)
		mustBeRefusal(t, err)
	})
}
