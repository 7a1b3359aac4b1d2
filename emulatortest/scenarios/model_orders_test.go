package scenarios_test

import (
	"errors"
	"maps"
	"testing"

	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// TestTheModelOfTreesIsNoWiderThanThePromises: the model that other tests compare what readers see with gives a call that was told ErrAmbiguous and ErrDanglingRef the effect that
// docs/deletes.md promises, and no other call an effect outside of its place.
func TestTheModelOfTreesIsNoWiderThanThePromises(t *testing.T) {
	t.Parallel()
	stored := errors.Join(repository.ErrAmbiguous, repository.ErrDanglingRef)
	did := func(name, id, to string) call { return call{verb: treeVerb{name, id, to}, ended: true} }
	told := func(c call, err error) call { c.err = err; return c }
	deleteR, deleteC, deleteA := did("delete", "r", ""), did("delete", "c", ""), did("delete", "a", "")
	restoreA, restoreC, purgeA := did("restore", "a", ""), did("restore", "c", ""), did("purge", "a", "")
	upsertR, upsertN, createN, moveR := did("upsert", "r", "c"), did("upsert", "n", "c"), did("create", "n", "c"), did("move", "r", "c")
	sweep, killed := did("sweep", "", ""), upsertR
	killed.ended = false

	none, alone, withoutR := map[string]string{}, map[string]string{"r": "c"}, map[string]string{"a": "root", "c": "a"}
	whole, withN := map[string]string{"a": "root", "c": "a", "r": "c"}, map[string]string{"a": "root", "c": "a", "n": "c"}
	restrict, cascade := rules{parented.Cascade, parented.Restrict}, cascade()
	for name, c := range map[string]struct {
		rules rules
		keeps string
		calls []call            // of one process, so that there is one order of them
		other []call            // of another
		seen  map[string]string // without b and z, which stand
		want  bool
	}{
		"it comes back with its parent":                  {restrict, "", []call{deleteR, deleteA, told(upsertR, stored), restoreA}, nil, whole, true},
		"so does what was not there before":              {restrict, "", []call{deleteR, deleteA, told(upsertN, stored), restoreA}, nil, withN, true},
		"and what a create says to be stored":            {restrict, "", []call{deleteR, deleteA, told(createN, stored), restoreA}, nil, withN, true},
		"also with a restore by another process":         {restrict, "", []call{deleteR, deleteA, told(upsertR, stored), sweep}, []call{restoreA}, whole, true},
		"it is hidden with its parent":                   {restrict, "", []call{deleteR, deleteA, told(upsertR, stored)}, nil, none, true},
		"it is purged with its parent":                   {restrict, "", []call{deleteR, deleteA, told(upsertR, stored), purgeA}, nil, none, true},
		"it belongs to the delete of its parent":         {restrict, "", []call{deleteR, deleteC, deleteA, told(upsertR, stored), restoreA}, nil, map[string]string{"a": "root"}, true},
		"which brings it back":                           {restrict, "", []call{deleteR, deleteC, deleteA, told(upsertR, stored), restoreA, restoreC}, nil, whole, true},
		"and not with another delete":                    {restrict, "", []call{deleteR, deleteC, deleteA, told(upsertR, stored), restoreA}, nil, map[string]string{"a": "root", "r": "c"}, false},
		"it stays without a parent that was purged":      {restrict, "", []call{deleteR, deleteA, purgeA, told(upsertR, stored)}, nil, alone, true},
		"and is not lost with it":                        {restrict, "", []call{deleteR, deleteA, purgeA, told(upsertR, stored)}, nil, none, false},
		"it stays without a parent that is not kept":     {restrict, "tombstones", []call{deleteR, deleteA, told(upsertR, stored)}, nil, alone, true},
		"and is not lost with that":                      {restrict, "tombstones", []call{deleteR, deleteA, told(upsertR, stored)}, nil, none, false},
		"what is kept goes by the root of the delete":    {restrict, "notes", []call{deleteR, deleteA, told(upsertR, stored), restoreA}, nil, whole, true},
		"it does not stay where its parent can return":   {restrict, "", []call{deleteR, deleteA, told(upsertR, stored)}, nil, alone, false},
		"it is not lost":                                 {restrict, "", []call{deleteR, deleteA, told(upsertR, stored), restoreA}, nil, withoutR, false},
		"its parent is not lost":                         {restrict, "", []call{deleteR, deleteA, told(upsertR, stored), restoreA}, nil, map[string]string{"a": "root", "r": "c"}, false},
		"it does not come back by itself":                {restrict, "", []call{deleteR, deleteA, told(upsertR, stored), deleteC}, nil, whole, false},
		"under Cascade it is a part of the delete":       {cascade, "", []call{deleteR, deleteA, told(upsertR, stored), restoreA}, nil, whole, false},
		"what was acknowledged is in its place":          {restrict, "", []call{deleteR, deleteA, upsertR, restoreA}, nil, whole, false},
		"so is what is only ambiguous":                   {restrict, "", []call{deleteR, deleteA, told(upsertR, repository.ErrAmbiguous), restoreA}, nil, whole, false},
		"and may have done nothing":                      {restrict, "", []call{deleteR, deleteA, told(upsertR, repository.ErrAmbiguous), restoreA}, nil, withoutR, true},
		"what was refused is not stored":                 {restrict, "", []call{deleteR, deleteA, told(upsertR, repository.ErrDanglingRef), restoreA}, nil, whole, false},
		"and did nothing":                                {restrict, "", []call{deleteR, deleteA, told(upsertR, repository.ErrDanglingRef), restoreA}, nil, withoutR, true},
		"a killed one does not stay":                     {restrict, "", []call{deleteR, deleteA, purgeA, killed}, nil, alone, false},
		"another verb is in its place":                   {restrict, "", []call{deleteR, deleteA, told(moveR, stored), restoreA}, nil, whole, false},
		"a delete that succeeded is in its place":        {restrict, "", []call{deleteR, deleteA, restoreA}, nil, none, false},
		"a delete that a child forbids does not succeed": {restrict, "", []call{deleteA}, nil, none, false},
		"nor one after the child has come back":          {restrict, "", []call{deleteR, deleteA, told(upsertR, stored), restoreA, deleteA}, nil, none, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := map[string]string{"b": "root", "z": "root"}
			maps.Copy(seen, c.seen)
			if got := newTreeModel(c.rules, shape{keeps: c.keeps}).reaches([3][]call{c.calls, c.other}, seen, 0); got != c.want {
				t.Errorf("the model accepts %v: %t, want %t", seen, got, c.want)
			}
		})
	}
}
