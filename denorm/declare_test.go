package denorm_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	keyed "github.com/cosmosgrove/grove/repository/layout"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Ring copies itself through another.
type Ring struct {
	tenantitem.TenantItem[Ring]
	NextID tenantitem.Ref[Bell] `json:"nextId"`
	Sound  string               `json:"sound" denorm:"sync,ref=nextId,field=sound"`
}

type Bell struct {
	tenantitem.TenantItem[Bell]
	NextID tenantitem.Ref[Ring] `json:"nextId"`
	Sound  string               `json:"sound" denorm:"sync,ref=nextId,field=sound"`
}

// Visit can't follow a change, because the copy is a part of its key.
type Visit struct {
	tenantitem.TenantItem[Visit]
	PersonID   tenantitem.Ref[Person] `json:"personId"`
	PersonName string                 `json:"personName" denorm:"sync,ref=personId,field=name"`
}

type Inner struct {
	tenantitem.TenantItem[Inner]
	TaskID tenantitem.Ref[Task] `json:"taskId"`
	Note   string               `json:"note" denorm:"snapshot,ref=taskId,field=plan.steps[].note"`
}

type cantWork struct {
	entities []registry.Declaration
	declared []denorm.Declaration
	says     string
}

func TestDeclarationsThatCantWork(t *testing.T) {
	t.Parallel()
	short := layout()
	short.Containers = append(slices.Clone(short.Containers),
		registry.Container{ID: "visits", PartitionKey: []string{"/tenantId", "/personName"}},
		registry.Container{ID: "sizes", PartitionKey: []string{"/tenantId", "/size"}},
		registry.Container{ID: "short", DefaultTTL: 1e9},
	)
	tests := map[string]cantWork{
		"a source that is not registered":    {[]registry.Declaration{registry.EntityOf[Person]()}, nil, "source Team is not registered (add registry.Entity[Team]())"},
		"a cycle of copies":                  {[]registry.Declaration{registry.EntityOf[Ring](), registry.EntityOf[Bell]()}, nil, "Bell.sound <- Ring.sound <- Bell.sound"},
		"a copy in the key":                  {append(entities(), registry.EntityOf[Visit](registry.In("visits"))), nil, "part of the partition key"},
		"a source's field inside an array":   {append(entities(), registry.EntityOf[Inner]()), nil, "lies in an array"},
		"a count in a field that isn't":      {nil, []denorm.Declaration{denorm.CountOf[Person, Task]("taskCuont", "assigneeId")}, `did you mean "taskCount"?`},
		"a count in a text":                  {nil, []denorm.Declaration{denorm.CountOf[Person, Task]("name", "assigneeId")}, "make it an int"},
		"a count through a field that isn't": {nil, []denorm.Declaration{denorm.CountOf[Person, Task]("taskCount", "assigneeID")}, `did you mean "assigneeId"?`},
		"a count through another reference":  {nil, []denorm.Declaration{denorm.CountOf[Team, Task]("name", "assigneeId")}, "not a reference to Team"},
		"two counts in one field": {nil, []denorm.Declaration{
			denorm.CountOf[Person, Task]("taskCount", "assigneeId"), denorm.CountOf[Person, Task]("taskCount", "watcherIds"),
		}, "kept by another declaration"},
		"the newest without a number":       {nil, []denorm.Declaration{denorm.RecentOf[Person, Task]("lastTasks", 0, "assigneeId")}, "ask for 1 to 100"},
		"the newest in a number":            {nil, []denorm.Declaration{denorm.RecentOf[Person, Task]("taskCount", 3, "assigneeId")}, "make it a slice"},
		"the newest through two references": {nil, []denorm.Declaration{denorm.RecentOf[Person, Task]("lastTasks", 3)}, "in several fields"},
		"the newest of strangers":           {nil, []denorm.Declaration{denorm.RecentOf[Task, Team]("labels", 3)}, "does not refer to"},
		"a link of other references":        {nil, []denorm.Declaration{denorm.LinkOf[Task, Label]("watcherIds", "tasks")}, "[]tenantitem.Ref[Label]"},
		"a rule for no copy":                {nil, []denorm.Declaration{denorm.OnDeleteOf[Task, Person]("watcherIds", denorm.Clear)}, "name the reference field of a tag"},
		"a parent that is not registered":   {[]registry.Declaration{registry.EntityOf[Team]()}, []denorm.Declaration{denorm.CountOf[Person, Team]("taskCount", "x")}, "Person is not registered"},
		"a count of what expires": {[]registry.Declaration{
			registry.EntityOf[Team](), registry.EntityOf[Person](), registry.EntityOf[Task](registry.In("short")), registry.ChildOf[Comment, Task](parented.Cascade), registry.EntityOf[Label](),
		}, []denorm.Declaration{denorm.CountOf[Person, Task]("taskCount", "assigneeId")}, "expire"},
		"a zero declaration": {nil, []denorm.Declaration{{}}, "denorm.CountOf"},
	}
	maps.Copy(tests, declarationsOfOddNames())
	maps.Copy(tests, declarationsOfKeptFields())
	maps.Copy(tests, declarationsOfWhatExpires())
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tt.entities == nil {
				tt.entities = entities()
			}
			_, err := registry.NewPlan(short, tt.entities, denorm.New(denorm.Config{}, tt.declared...).Extension())
			if !errors.Is(err, tenantitem.ErrInvalid) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%v\nwant %q in it", err, tt.says)
			}
		})
	}
}

// Two Copies of one database would both count the same references.
func TestASecondCopiesOfAPlanIsRefused(t *testing.T) {
	t.Parallel()
	first, second := denorm.New(denorm.Config{}, declarations()...), denorm.New(denorm.Config{Name: "second"}, declarations()...)
	_, err := registry.NewPlan(layout(), entities(), first.Extension(), second.Extension())
	if !errors.Is(err, tenantitem.ErrInvalid) || !strings.Contains(err.Error(), "denorm.Module is there twice") {
		t.Error(err)
	}
}

// What can't work is refused with the plan, before there is a client.
func TestConfigsThatCantWork(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		cfg  denorm.Config
		says string
	}{
		"a name":                          {denorm.Config{Name: "a/b"}, "denorm.Config.Name"},
		"the leases among the entities":   {denorm.Config{LeaseContainer: "plain"}, `holds documents of Team (use a container of its own`},
		"a lease container's name":        {denorm.Config{LeaseContainer: "a/b"}, "denorm.Module"},
		"a negative tombstone":            {denorm.Config{Tombstone: -time.Hour}, "denorm.Config.Tombstone: it is -1h0m0s (leave it out for its default, or use hours)"},
		"a tombstone of an instant":       {denorm.Config{Tombstone: time.Millisecond}, "denorm.Config.Tombstone: it is 1ms"},
		"a tombstone of a century":        {denorm.Config{Tombstone: 100 * 365 * 24 * time.Hour}, "denorm.Config.Tombstone: it is 876000h0m0s"},
		"a processor's negative interval": {denorm.Config{Processor: changefeed.Config{PollInterval: -1}}, "changefeed.Config.PollInterval: it is -1ns"},
		"a processor's attempts":          {denorm.Config{Processor: changefeed.Config{MaxAttempts: -1}}, "changefeed.Config.MaxAttempts: it is -1"},
		"a processor's tiny lease":        {denorm.Config{Processor: changefeed.Config{LeaseDuration: 1}}, "changefeed.Config.LeaseDuration: it is 1ns"},
		"a processor's page":              {denorm.Config{Processor: changefeed.Config{MaxItems: 1001}}, "changefeed.Config.MaxItems: it is 1001"},
		"an instance with a slash":        {denorm.Config{Processor: changefeed.Config{Instance: "a/b"}}, "changefeed.Config.Instance"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := layout()
			cfg.Containers = append(slices.Clone(cfg.Containers), registry.Container{ID: "plain", PartitionKey: []string{"/id"}})
			declared := entities()
			if tt.cfg.LeaseContainer == "plain" {
				declared = []registry.Declaration{registry.EntityOf[Team](registry.In("plain"), registry.WithLayout(keyed.Layout{}))}
			}
			_, err := registry.NewPlan(cfg, declared, denorm.New(tt.cfg).Extension())
			if !errors.Is(err, tenantitem.ErrInvalid) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%v\nwant %q in it", err, tt.says)
			}
		})
	}
}

func TestAKeeperNeedsADatabase(t *testing.T) {
	t.Parallel()
	if _, err := denorm.New(denorm.Config{}).Keeper(); !errors.Is(err, tenantitem.ErrInvalid) {
		t.Error(err)
	}
}

func TestWritesThatAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ada := b.person("Ada")
	task := b.task("p1", ada)
	scope := b.tasks.In(acme, "p1")
	for name, edits := range map[string]repository.Edits{
		"a reference":            repository.Set("/assigneeId", "x"),
		"a copy":                 repository.Set("/assigneeName", "x"),
		"an array with copies":   repository.Set("/plan", Plan{}),
		"an element with copies": repository.Set("/plan/steps/0/note", "x").Remove("/plan/steps/0"),
		"a count":                repository.Increment("/commentCount", 1),
		"a counted reference":    repository.Edits{}.Add("/watcherIds/-", "x"),
		"a link":                 repository.Set("/labels", []string{}),
	} {
		if _, err := scope.Patch(b.ctx, task.ID, edits); !errors.Is(err, repository.ErrInvalid) || !strings.Contains(err.Error(), "can't be patched") {
			t.Errorf("a patch of %s: %v", name, err)
		}
	}
	if _, err := scope.Patch(b.ctx, task.ID, repository.Set("/title", "new")); err != nil {
		t.Errorf("a patch of nothing that is copied: %v", err)
	}
	nobody := tenantitem.Ref[Person]("nobody")
	for name, refused := range map[string]*Task{
		"a reference":             {AssigneeID: nobody},
		"a reference in an array": {Plan: Plan{Steps: []Step{{PersonID: ada.Ref()}, {PersonID: nobody}}}},
		"an id in a link":         {Labels: []tenantitem.Ref[Label]{"nobody"}},
	} {
		err := scope.Create(b.ctx, refused)
		var dangling *parented.DanglingError
		if !errors.Is(err, repository.ErrDanglingRef) || !errors.As(err, &dangling) || dangling.ID != "nobody" || !strings.Contains(err.Error(), dangling.Field) {
			t.Errorf("%s to nobody: %v", name, err)
		}
	}
	if err := scope.Create(b.ctx, &Task{AssigneeID: "a/b"}); !errors.Is(err, repository.ErrInvalid) {
		t.Errorf("a reference that is no id: %v", err)
	}
}
