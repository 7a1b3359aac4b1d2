package registry_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/tenantitem"
)

// A parent that expires leaves its children without it, so that they must not live longer.
func TestAParentDoesNotExpireBeforeItsChildren(t *testing.T) {
	t.Parallel()
	hour := registry.TTL(time.Hour)
	short := registry.Container{ID: "short", DefaultTTL: time.Hour}
	for _, tc := range []struct {
		name          string
		parent, child []registry.Option
		ok            bool
	}{
		{"neither expires", nil, nil, true},
		{"the child alone", nil, []registry.Option{hour}, true},
		{"both after as long", []registry.Option{hour}, []registry.Option{hour}, true},
		{"the child sooner", []registry.Option{registry.TTL(2 * time.Hour)}, []registry.Option{hour}, true},
		{"both by their container", []registry.Option{registry.In("short")}, []registry.Option{registry.In("short")}, true},
		{"the parent alone", []registry.Option{hour}, nil, false},
		{"the child later", []registry.Option{hour}, []registry.Option{registry.TTL(2 * time.Hour)}, false},
		{"the parent by its container", []registry.Option{registry.In("short")}, nil, false},
		{"the child later than its parent's container", []registry.Option{registry.In("short")}, []registry.Option{registry.TTL(2 * time.Hour)}, false},
	} {
		for _, rule := range []parented.Rule{parented.Cascade, parented.Restrict, parented.Orphan} {
			t.Run(tc.name+", "+rule.String(), func(t *testing.T) {
				t.Parallel()
				_, err := registry.NewPlan(registry.Config{Database: "d", Containers: []registry.Container{short}}, []registry.Declaration{
					registry.EntityOf[Note](tc.parent...), registry.ChildOf[Comment, Note](rule, tc.child...),
				})
				if tc.ok {
					if err != nil {
						t.Fatal(err)
					}
					return
				}
				if !errors.Is(err, tenantitem.ErrInvalid) {
					t.Fatalf("want an error that is ErrInvalid, got %v", err)
				}
				for _, part := range []string{"registry.Entity[Note]", "registry.Child[Comment, Note]", "registry.TTL of at most 1h0m0s"} {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("%q does not say %q", err, part)
					}
				}
			})
		}
	}
}
