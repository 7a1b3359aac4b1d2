package tenantitem_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/tenantitem"
)

// nameCopy holds a reference and a copy through it.
type nameCopy struct {
	PersonID   tenantitem.Ref[person] `json:"personId"`
	PersonName string                 `json:"personName" denorm:"sync,ref=personId,field=firstName"`
}

type deepCopy struct {
	Inner *struct {
		Lines []nameCopy `json:"lines"`
	} `json:"inner"`
}

// ownText and ownJSON write themselves, so that nobody can tell what becomes of their fields.
type ownText struct{ nameCopy }

func (ownText) MarshalText() ([]byte, error) { return nil, nil }
func (*ownText) UnmarshalText([]byte) error  { return nil }

type ownJSON struct{ nameCopy }

func (ownJSON) MarshalJSON() ([]byte, error) { return []byte("null"), nil }
func (*ownJSON) UnmarshalJSON([]byte) error  { return nil }

type box[T any] struct {
	Value T `json:"value"`
}

type tree struct {
	nameCopy
	Replies []tree `json:"replies,omitempty"`
}

type even struct {
	Next *odd `json:"next,omitempty"`
}

type odd struct {
	nameCopy
	Next *even `json:"next,omitempty"`
}

// plainTree holds itself and no copy.
type plainTree struct {
	Name  string               `json:"name"`
	Sub   []plainTree          `json:"sub,omitempty"`
	ByKey map[string]plainTree `json:"byKey,omitempty"`
}

// writesItself is an entity that does.
type writesItself struct {
	tenantitem.TenantItem[writesItself]
	nameCopy
}

func (*writesItself) MarshalJSON() ([]byte, error) { return []byte("{}"), nil }

// holds is an entity with one field of a type.
type holds[T any] struct {
	tenantitem.TenantItem[holds[T]]
	In T `json:"in"`
}

type embeds struct {
	tenantitem.TenantItem[embeds]
	nameCopy `denorm:"sync,ref=personId,field=firstName"`
}

type notStored struct {
	tenantitem.TenantItem[notStored]
	PersonID tenantitem.Ref[person] `json:"personId"`
	Name     string                 `json:"-" denorm:"sync,ref=personId,field=firstName"`
}

type notExported struct {
	tenantitem.TenantItem[notExported]
	PersonID tenantitem.Ref[person] `json:"personId"`
	name     string                 `denorm:"sync,ref=personId,field=firstName"`
}

// A denorm tag is found, or refused where nobody could keep what it says.
func TestTagsThatNothingReaches(t *testing.T) {
	t.Parallel()
	_ = notExported{}.name
	const (
		inMap     = "values of a map (use an array of objects"
		inMatrix  = "array of arrays (put the inner one into a struct)"
		marshaler = "writes its own JSON or text (take the tag away, or the methods)"
		recursive = "in itself, at any depth (make the inner ones documents of their own, or take the tag away)"
		unstored  = "is not stored (take the tag away, or store the field)"
	)
	for name, tt := range map[string]struct {
		typ     reflect.Type
		copies  string // the paths
		refused string
	}{
		"a struct":                       {reflect.TypeFor[holds[nameCopy]](), "in.personName", ""},
		"a pointer to a struct":          {reflect.TypeFor[holds[*nameCopy]](), "in.personName", ""},
		"a slice":                        {reflect.TypeFor[holds[[]nameCopy]](), "in[].personName", ""},
		"a slice of pointers":            {reflect.TypeFor[holds[[]*nameCopy]](), "in[].personName", ""},
		"a pointer to a slice":           {reflect.TypeFor[holds[*[]nameCopy]](), "in[].personName", ""},
		"an array":                       {reflect.TypeFor[holds[[2]nameCopy]](), "in[].personName", ""},
		"a generic struct":               {reflect.TypeFor[holds[box[box[nameCopy]]]](), "in.value.value.personName", ""},
		"a struct twice":                 {reflect.TypeFor[holds[struct{ A, B nameCopy }]](), "in.A.personName in.B.personName", ""},
		"a tree without tags":            {reflect.TypeFor[holds[plainTree]](), "", ""},
		"a map":                          {reflect.TypeFor[holds[map[string]nameCopy]](), "", inMap},
		"a map of pointers":              {reflect.TypeFor[holds[map[string]*nameCopy]](), "", inMap},
		"a map of slices":                {reflect.TypeFor[holds[map[string][]nameCopy]](), "", inMap},
		"a map deeper down":              {reflect.TypeFor[holds[map[string]deepCopy]](), "", inMap},
		"a map in a slice":               {reflect.TypeFor[holds[[]map[string]nameCopy]](), "", inMap},
		"a slice of slices":              {reflect.TypeFor[holds[[][]nameCopy]](), "", inMatrix},
		"an array of slices of pointers": {reflect.TypeFor[holds[[2]*[]*nameCopy]](), "", inMatrix},
		"a struct that writes its text":  {reflect.TypeFor[holds[ownText]](), "", marshaler},
		"one that writes its JSON":       {reflect.TypeFor[holds[*ownJSON]](), "", marshaler},
		"a slice of those":               {reflect.TypeFor[holds[[]ownJSON]](), "", marshaler},
		"an entity that writes its JSON": {reflect.TypeFor[writesItself](), "", marshaler},
		"a tree":                         {reflect.TypeFor[holds[tree]](), "", recursive},
		"two types that hold each other": {reflect.TypeFor[holds[odd]](), "", recursive},
		"an embedded struct with a tag":  {reflect.TypeFor[embeds](), "", "embedded struct (put it on the struct's fields)"},
		"a field that is not stored":     {reflect.TypeFor[notStored](), "", unstored},
		"a field that is not exported":   {reflect.TypeFor[notExported](), "", unstored},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := tenantitem.ModelOfType(tt.typ)
			if tt.refused != "" {
				if !errors.Is(err, tenantitem.ErrInvalid) || !strings.Contains(err.Error(), tt.refused) {
					t.Errorf("%v\nwant %q in it", err, tt.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var paths []string
			for _, f := range m.Copies() {
				paths = append(paths, f.Path)
			}
			if got := strings.Join(paths, " "); got != tt.copies {
				t.Errorf("copies: %q, want %q", got, tt.copies)
			}
		})
	}
}
