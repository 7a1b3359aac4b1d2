package tenantitem_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/tenantitem"
)

type person struct {
	tenantitem.TenantItem[person]
	FirstName string    `json:"firstName"`
	Nicknames []string  `json:"nicknames"`
	Last      [3]string `json:"last"`
}

type line struct {
	PersonID   tenantitem.Ref[person] `json:"personId"`
	PersonName string                 `json:"personName" denorm:"snapshot,ref=personId,field=firstName"`
	Quantity   int                    `json:"quantity"`
}

type order struct {
	tenantitem.TenantItem[order]
	OwnerID   tenantitem.Ref[person]   `json:"ownerId,omitempty"`
	OwnerName string                   `json:"ownerName,omitempty" denorm:"sync,ref=ownerId,field=firstName"`
	Watchers  []tenantitem.Ref[person] `json:"watchers"`
	Lines     []line                   `json:"lines"`
	First     *line                    `json:"first"`
	Placed    time.Time                `json:"placed"`
	Extra     map[string]any           `json:"extra"`
	Blob      []byte                   `json:"blob"`
	Hidden    string                   `json:"-"`
	Plain     bool
	Tree      *plainTree `json:"tree"`
}

func TestModelFields(t *testing.T) {
	t.Parallel()
	m, err := tenantitem.ModelOf[order]()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]tenantitem.FieldKind{
		"id": tenantitem.KindString, "tenantId": tenantitem.KindString, "_ts": tenantitem.KindNumber,
		"deletedAt": tenantitem.KindTime, "ttl": tenantitem.KindNumber, "watchers": tenantitem.KindArray,
		"lines[].personId": tenantitem.KindString, "lines[].quantity": tenantitem.KindNumber, "first.personName": tenantitem.KindString,
		"placed": tenantitem.KindTime, "extra": tenantitem.KindObject, "blob": tenantitem.KindString, "Plain": tenantitem.KindBool,
		"tree": tenantitem.KindObject, "tree.sub": tenantitem.KindArray,
	}
	for path, kind := range want {
		f, ok := m.Field(path)
		if !ok || f.Kind != kind {
			t.Errorf("%s: found %v, %+v", path, ok, f)
		}
	}
	for _, path := range []string{"Hidden", "-", "lines.personId", "tree.sub[].sub[].name", "nope"} {
		if _, ok := m.Field(path); ok {
			t.Errorf("%s is a field", path)
		}
	}
	if m.Name != "order" {
		t.Errorf("the entity type is %q", m.Name)
	}
	var refs, copies []string
	for _, f := range m.References() {
		refs = append(refs, f.Path)
		if f.Refers != reflect.TypeFor[person]() {
			t.Errorf("%s refers to %v", f.Path, f.Refers)
		}
	}
	for _, f := range m.Copies() {
		copies = append(copies, f.Path+"="+f.Copy.Mode.String()+":"+f.Copy.Through.Path+"."+f.Copy.Source)
	}
	if got := strings.Join(refs, " "); got != "ownerId watchers lines[].personId first.personId" {
		t.Errorf("references: %s", got)
	}
	if got := strings.Join(copies, " "); got != "ownerName=sync:ownerId.firstName lines[].personName=snapshot:lines[].personId.firstName first.personName=snapshot:first.personId.firstName" {
		t.Errorf("copies: %s", got)
	}
}

func TestHoldersReachEveryOccurrence(t *testing.T) {
	t.Parallel()
	m, _ := tenantitem.ModelOf[order]()
	o := &order{Lines: []line{{PersonID: "a"}, {PersonID: "b"}}, First: &line{PersonID: "c"}, OwnerID: "d"}
	var ids []string
	for _, f := range m.Copies() {
		f.Holders(reflect.ValueOf(o).Elem(), func(holder reflect.Value) {
			ref, ok := f.Copy.Through.In(holder)
			if !ok {
				t.Fatalf("%s: no reference in its holder", f.Path)
			}
			ids = append(ids, ref.String())
			into, _ := f.In(holder)
			into.SetString("name of " + ref.String())
		})
	}
	if !slices.Equal(ids, []string{"d", "a", "b", "c"}) {
		t.Fatalf("references: %v", ids)
	}
	if o.OwnerName != "name of d" || o.Lines[1].PersonName != "name of b" || o.First.PersonName != "name of c" {
		t.Fatalf("copies: %+v", o)
	}
	o.First = nil
	if _, ok := mustField(t, m, "first.personId").Value(reflect.ValueOf(o).Elem()); ok {
		t.Fatal("a nil pointer holds a value")
	}
}

func mustField(t *testing.T, m *tenantitem.Model, path string) *tenantitem.Field {
	t.Helper()
	f, ok := m.Field(path)
	if !ok {
		t.Fatalf("no field %q", path)
	}
	return f
}

type wrongMode struct {
	tenantitem.TenantItem[wrongMode]
	PID  tenantitem.Ref[person] `json:"pid"`
	Name string                 `json:"name" denorm:"ref=pid,field=firstName"`
}

type noSibling struct {
	tenantitem.TenantItem[noSibling]
	PersonID tenantitem.Ref[person] `json:"personId"`
	Name     string                 `json:"name" denorm:"sync,ref=personID,field=firstName"`
}

type noRef struct {
	tenantitem.TenantItem[noRef]
	PersonID string `json:"personId"`
	Name     string `json:"name" denorm:"sync,ref=personId,field=firstName"`
}

type noSource struct {
	tenantitem.TenantItem[noSource]
	PersonID tenantitem.Ref[person] `json:"personId"`
	Name     string                 `json:"name" denorm:"sync,ref=personId,field=firstname"`
}

type wrongType struct {
	tenantitem.TenantItem[wrongType]
	PersonID tenantitem.Ref[person] `json:"personId"`
	Name     int                    `json:"name" denorm:"sync,ref=personId,field=firstName"`
}

type wrongElements struct {
	tenantitem.TenantItem[wrongElements]
	PersonID tenantitem.Ref[person] `json:"personId"`
	Names    []int                  `json:"names" denorm:"sync,ref=personId,field=nicknames"`
}

type shorter struct {
	tenantitem.TenantItem[shorter]
	PersonID tenantitem.Ref[person] `json:"personId"`
	Last     [2]string              `json:"last" denorm:"sync,ref=personId,field=last"`
}

type twice struct {
	tenantitem.TenantItem[twice]
	Number string `json:"id"`
}

func TestModelRefusesWithTheWayOut(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		typ  reflect.Type
		says string
	}{
		{reflect.TypeFor[wrongMode](), "not snapshot or sync"},
		{reflect.TypeFor[noSibling](), `did you mean "personId"?`},
		{reflect.TypeFor[noRef](), "tenantitem.Ref[Source]"},
		{reflect.TypeFor[noSource](), `did you mean "firstName"?`},
		{reflect.TypeFor[wrongType](), "same type"},
		{reflect.TypeFor[wrongElements](), "same type"},
		{reflect.TypeFor[shorter](), "same type"},
		{reflect.TypeFor[twice](), `stored as "id"`},
		{reflect.TypeFor[int](), "not a struct"},
		{reflect.TypeOf(struct{ tenantitem.Meta }{}), "unnamed"},
	} {
		_, err := tenantitem.ModelOfType(tt.typ)
		if !errors.Is(err, tenantitem.ErrInvalid) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", tt.typ, err)
		}
	}
}

func TestUnknownFieldSuggests(t *testing.T) {
	t.Parallel()
	m, _ := tenantitem.ModelOf[order]()
	for name, near := range map[string]string{"ownerid": "ownerId", "placde": "placed", "wathcers": "watchers", "zzzzzzzz": ""} {
		if got := m.Suggest(name); got != near {
			t.Errorf("Suggest(%q) = %q", name, got)
		}
	}
	if err := m.UnknownField("placde"); !strings.Contains(err.Error(), `did you mean "placed"?`) {
		t.Error(err)
	}
}

type withBareRef struct {
	tenantitem.TenantItem[withBareRef]
	Friend tenantitem.RefTo[withBareRef] `json:"friend"`
}

// The star is easily forgotten where the type behind the alias is named.
func TestAReferenceNamedWithoutItsPointer(t *testing.T) {
	t.Parallel()
	m, err := tenantitem.ModelOf[withBareRef]()
	if err != nil {
		t.Fatal(err)
	}
	if f, ok := m.Field("friend"); !ok || f.Refers != reflect.TypeFor[withBareRef]() {
		t.Errorf("%+v", f)
	}
}
