package denorm_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// world draws random work on one account. What snapshots must hold is noted
// when they are taken.
type world struct {
	*testBundle
	r       *rapid.T
	outer   testing.TB
	teams   []string
	persons []string
	tasks   []address
	labels  []string
	// taken are the snapshots by document and place.
	taken map[string]string
	names int
	// others are the processes that follow beside the application, or after it: those that see everything again from the
	// beginning, and those that go on from a former position.
	others []*registry.Database
	// points are the states of the leases at random moments.
	points [][]lease
}

type address struct{ project, id string }

func TestCopiesEqualTheirSources(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		w := &world{testBundle: setup(t), r: r, outer: t, taken: map[string]string{}}
		w.t = r
		for range rapid.IntRange(1, 4).Draw(r, "phases") {
			for range rapid.IntRange(1, 14).Draw(r, "steps") {
				w.step()
			}
			w.catchUp()
		}
		w.handOver(append(w.others, w.db)...)
		w.noDrift()
		w.compare()
	})
}

func (w *world) pick(what string, n int) int { return rapid.IntRange(0, n-1).Draw(w.r, what) }

func (w *world) name() string {
	w.names++
	return fmt.Sprint("name ", w.names)
}

// ok passes over what may fail when documents come and go at random.
func (w *world) ok(err error) bool {
	w.t.Helper()
	switch {
	case err == nil:
		return true
	case errors.Is(err, repository.ErrDanglingRef), errors.Is(err, repository.ErrNotFound):
		return false
	}
	w.t.Fatal(err)
	return false
}

func (w *world) step() {
	switch w.pick("step", 18) {
	case 0:
		team := &Team{Name: w.name()}
		w.must(w.testBundle.teams.In(acme).Create(w.ctx, team))
		w.teams = append(w.teams, team.ID)
	case 1, 2:
		p := &Person{Name: w.name(), Age: w.pick("age", 90), TeamID: tenantitem.Ref[Team](w.any(w.teams, "team"))}
		if w.ok(w.testBundle.persons.In(acme).Create(w.ctx, p)) {
			w.persons = append(w.persons, p.ID)
		}
	case 3, 4:
		w.createTask()
	case 5, 6:
		w.mutateTask()
	case 7:
		if id := w.any(w.persons, "person"); id != "" {
			_, err := w.testBundle.persons.In(acme).Mutate(w.ctx, id, func(p *Person) error {
				p.Name, p.TeamID = w.name(), tenantitem.Ref[Team](w.any(w.teams, "team"))
				return nil
			})
			w.ok(err)
		}
	case 8:
		if id := w.any(w.teams, "team"); id != "" {
			_, err := w.testBundle.teams.In(acme).Mutate(w.ctx, id, func(t *Team) error { t.Name = w.name(); return nil })
			w.ok(err)
		}
	case 9, 10:
		w.comment()
	case 11:
		w.delete()
	case 12:
		w.label()
	case 13:
		w.relabel()
	case 14:
		w.catchUp()
	case 15:
		// One that reads everything from the beginning, while the other works.
		db, again := open(w.outer, w.client, fmt.Sprint("again-", len(w.others)), declarations()...)
		w.others = append(w.others, db)
		w.must(again.CatchUp(w.ctx))
	case 16:
		w.points = append(w.points, w.leases())
	case 17:
		if n := len(w.points); n > 0 {
			w.rewind(w.points[w.pick("point", n)])
			db, keeper := open(w.outer, w.client, "", declarations()...)
			w.keeper, w.others = keeper, append(w.others, db)
			w.catchUp()
		}
	}
}

func (w *world) any(ids []string, what string) string {
	if i := w.pick(what, len(ids)+1); i < len(ids) {
		return ids[i]
	}
	return ""
}

func (w *world) steps() []Step {
	steps := make([]Step, w.pick("number of steps", 4))
	for i := range steps {
		steps[i] = Step{Note: w.name(), PersonID: tenantitem.Ref[Person](w.any(w.persons, "step's person"))}
	}
	return steps
}

func (w *world) createTask() {
	task := &Task{Title: w.name(), AssigneeID: tenantitem.Ref[Person](w.any(w.persons, "assignee")), Plan: Plan{Steps: w.steps()}}
	for range w.pick("watchers", 3) {
		if id := tenantitem.Ref[Person](w.any(w.persons, "watcher")); id != "" && !slices.Contains(task.WatcherIDs, id) {
			task.WatcherIDs = append(task.WatcherIDs, id)
		}
	}
	if id := w.any(w.labels, "label"); id != "" {
		task.Labels = append(task.Labels, tenantitem.Ref[Label](id))
	}
	project := fmt.Sprint("p", w.pick("project", 2))
	var err error
	if w.pick("bulk", 2) == 0 {
		err = w.testBundle.tasks.In(acme, project).Create(w.ctx, task)
	} else {
		_, err = w.testBundle.tasks.In(acme, project).SaveAll(w.ctx, slices.Values([]*Task{task}), nil)
	}
	if w.ok(err) {
		w.tasks = append(w.tasks, address{project, task.ID})
		w.take(task)
	}
}

func (w *world) task() (address, bool) {
	if len(w.tasks) == 0 {
		return address{}, false
	}
	return w.tasks[w.pick("task", len(w.tasks))], true
}

func (w *world) mutateTask() {
	at, ok := w.task()
	if !ok {
		return
	}
	scope := w.testBundle.tasks.In(acme, at.project)
	change := func(t *Task) error {
		switch w.pick("change", 5) {
		case 0, 4:
			t.AssigneeID = tenantitem.Ref[Person](w.any(w.persons, "assignee"))
		case 1:
			t.Title = w.name()
		case 2:
			t.Plan.Steps = append(t.Plan.Steps, w.steps()...)
		case 3:
			if n := len(t.Plan.Steps); n > 0 {
				i := w.pick("step to drop", n)
				t.Plan.Steps = slices.Delete(t.Plan.Steps, i, i+1)
			}
		}
		// What an application writes into a snapshot does not last.
		t.AssigneeAge = -1
		return nil
	}
	var task *Task
	var err error
	switch w.pick("verb", 3) {
	case 0:
		task, err = scope.Mutate(w.ctx, at.id, change)
	case 1, 2:
		if task, err = scope.Get(w.ctx, at.id); err == nil {
			_ = change(task)
			if w.pick("put", 2) == 0 {
				err = scope.Upsert(w.ctx, task)
			} else {
				err = scope.Save(w.ctx, task)
			}
		}
	}
	if w.ok(err) {
		w.take(task)
	}
}

// take notes what the snapshots of a task that was just written hold. One that
// was noted must not have changed.
func (w *world) take(t *Task) {
	for place, value := range snapshots(t) {
		if old, ok := w.taken[t.ID+place]; ok && old != value {
			w.t.Fatalf("the snapshot %s was %q and is %q", place, old, value)
		}
		w.taken[t.ID+place] = value
	}
}

// snapshots names each snapshot by what it was taken through.
func snapshots(t *Task) map[string]string {
	out := map[string]string{}
	for _, s := range t.Plan.Steps {
		out[s.Note+string(s.PersonID)] = s.NameThen
	}
	return out
}

func (w *world) comment() {
	at, ok := w.task()
	if !ok {
		return
	}
	if c, err := w.comments.In(acme).First(w.ctx, repository.Where(repository.Gte("id", ""))); err == nil && w.pick("move", 2) == 0 {
		w.ok(w.comments.Move(w.ctx, acme, c.ID, tenantitem.Ref[Task](at.id)))
		return
	}
	w.ok(w.comments.UnderID(acme, tenantitem.Ref[Task](at.id)).Create(w.ctx, &Comment{Body: w.name(), AuthorID: tenantitem.Ref[Person](w.any(w.persons, "author"))}))
}

func (w *world) delete() {
	switch w.pick("delete", 4) {
	case 0:
		if id := w.any(w.persons, "person"); id != "" {
			w.ok(w.testBundle.persons.In(acme).Delete(w.ctx, id, nil))
		}
	case 1:
		if at, ok := w.task(); ok {
			w.ok(w.testBundle.tasks.In(acme, at.project).Delete(w.ctx, at.id, nil))
			if w.pick("create again", 2) == 0 {
				again := &Task{Title: w.name(), AssigneeID: tenantitem.Ref[Person](w.any(w.persons, "assignee"))}
				again.ID = at.id
				if err := w.testBundle.tasks.In(acme, at.project).Create(w.ctx, again); !errors.Is(err, repository.ErrConflict) {
					w.ok(err)
				}
			}
		}
	case 2:
		if c, err := w.comments.In(acme).First(w.ctx, repository.All()); err == nil {
			w.ok(w.comments.In(acme).Delete(w.ctx, c.ID, nil))
		}
	case 3:
		if id := w.any(w.labels, "label"); id != "" {
			w.ok(w.testBundle.labels.In(acme).Delete(w.ctx, id, nil))
		}
	}
}

func (w *world) label() {
	label := &Label{Text: w.name()}
	if at, ok := w.task(); ok {
		label.Tasks = append(label.Tasks, tenantitem.Ref[Task](at.id))
	}
	if w.ok(w.testBundle.labels.In(acme).Create(w.ctx, label)) {
		w.labels = append(w.labels, label.ID)
	}
}

// relabel changes a link from either side.
func (w *world) relabel() {
	at, ok := w.task()
	id := w.any(w.labels, "label")
	if !ok || id == "" {
		return
	}
	var err error
	if w.pick("side", 2) == 0 {
		_, err = w.testBundle.labels.In(acme).Mutate(w.ctx, id, func(l *Label) error {
			l.Tasks = toggle(l.Tasks, tenantitem.Ref[Task](at.id))
			return nil
		})
	} else {
		_, err = w.testBundle.tasks.In(acme, at.project).Mutate(w.ctx, at.id, func(t *Task) error {
			t.Labels = toggle(t.Labels, tenantitem.Ref[Label](id))
			return nil
		})
	}
	w.ok(err)
}

func toggle[R comparable](refs []R, ref R) []R {
	if i := slices.Index(refs, ref); i >= 0 {
		return slices.Delete(refs, i, i+1)
	}
	return append(refs, ref)
}

// compare computes everything by itself, from all documents.
func (w *world) compare() {
	teams, persons, tasks, labels := map[string]*Team{}, map[string]*Person{}, map[string]*Task{}, map[string]*Label{}
	collect(w, w.testBundle.teams.In(acme), func(t *Team) { teams[t.ID] = t })
	collect(w, w.testBundle.persons.In(acme), func(p *Person) { persons[p.ID] = p })
	collect(w, w.testBundle.tasks.In(acme), func(t *Task) { tasks[t.ID] = t })
	collect(w, w.testBundle.labels.In(acme), func(l *Label) { labels[l.ID] = l })
	counts, watching, recent, comments := map[string]int{}, map[string]int{}, map[string][]TaskCard{}, map[string]int{}
	collect(w, w.comments.In(acme), func(c *Comment) { comments[string(c.ParentID)]++ })
	for _, t := range tasks {
		counts[string(t.AssigneeID)]++
		recent[string(t.AssigneeID)] = append(recent[string(t.AssigneeID)], TaskCard{t.Ref(), t.Title})
		for _, id := range t.WatcherIDs {
			watching[string(id)]++
		}
		for place, value := range snapshots(t) {
			if old := w.taken[t.ID+place]; old != value {
				w.t.Errorf("task %s: the snapshot %s was %q and is %q", t.ID, place, old, value)
			}
		}
		if p := persons[string(t.AssigneeID)]; p != nil {
			team := ""
			if t.AssigneeTeam != nil {
				team = *t.AssigneeTeam
			}
			if t.AssigneeName != p.Name || team != p.TeamName {
				w.t.Errorf("task %s: %q of %q, its assignee is %q of %q", t.ID, t.AssigneeName, team, p.Name, p.TeamName)
			}
		}
		for _, s := range t.Plan.Steps {
			if p := persons[string(s.PersonID)]; p != nil && s.PersonName != p.Name {
				w.t.Errorf("task %s: a step has %q and its person is %q", t.ID, s.PersonName, p.Name)
			}
		}
		if t.CommentCount != comments[t.ID] {
			w.t.Errorf("task %s: %d comments are counted, %d are there", t.ID, t.CommentCount, comments[t.ID])
		}
		for _, id := range t.Labels {
			if l := labels[string(id)]; l == nil || !slices.Contains(l.Tasks, t.Ref()) {
				w.t.Errorf("task %s lists label %s, which does not list it", t.ID, id)
			}
		}
	}
	for _, l := range labels {
		for _, id := range l.Tasks {
			if t := tasks[string(id)]; t == nil || !slices.Contains(t.Labels, l.Ref()) {
				w.t.Errorf("label %s lists task %s, which does not list it", l.ID, id)
			}
		}
	}
	for _, p := range persons {
		if team := teams[string(p.TeamID)]; team != nil && team.Name != p.TeamName {
			w.t.Errorf("person %s: %q, the team is %q", p.ID, p.TeamName, team.Name)
		}
		cards := recent[p.ID]
		slices.SortFunc(cards, func(a, b TaskCard) int { return -1 * compareText(a.ID, b.ID) })
		cards = cards[:min(2, len(cards))]
		have, _ := json.Marshal(p.LastTasks)
		want, _ := json.Marshal(cards)
		if p.TaskCount != counts[p.ID] || p.Watching != watching[p.ID] || len(cards) != len(p.LastTasks) || len(cards) > 0 && string(have) != string(want) {
			w.t.Errorf("person %s: %d tasks, %d watched, %s; want %d, %d, %s", p.ID, p.TaskCount, p.Watching, have, counts[p.ID], watching[p.ID], want)
		}
	}
}

func compareText(a, b tenantitem.Ref[Task]) int {
	if a < b {
		return -1
	}
	return 1
}

func collect[T any](w *world, scope *repository.Scope[T], each func(*T)) {
	w.t.Helper()
	for e, err := range scope.Query(w.ctx, repository.All()) {
		w.must(err)
		each(e)
	}
}
