package scenarios_test

import (
	"cmp"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// Reply is a child of a comment: the third level of a tree.
type Reply struct {
	parented.ParentedItem[Reply, Comment]
	Body string `json:"body"`
	City string `json:"city"`
}

// branch is notes, comments and replies as a process of its own sees them.
type branch struct {
	forest   *parented.Forest
	notes    *repository.Repository[Note]
	comments *parented.Repository[Comment, Note]
	replies  *parented.Repository[Reply, Comment]
	buckets  *parented.Buckets[string, Note]
}

// rules are those of a tree's two relations.
type rules struct{ comments, replies parented.Rule }

// shared is a key under which parents and children share a logical partition.
func shared() []string { return []string{"/tenantId"} }

func cascade() rules { return rules{parented.Cascade, parented.Cascade} }

func branchOf(w *emulatortest.World, r rules) branch { return branchNamed(w, r, false) }

// branchNamed is the branch as a process sees it that uses the former names of its types, or one of the present.
func branchNamed(w *emulatortest.World, r rules, formerly bool) branch {
	container, form := containerOf(w, "main"), *emulatortest.State[shape](w)
	var process int
	_, _ = fmt.Sscanf(w.Actor(), "p%d", &process) // 0 for what is no process of the run
	ahead := time.Duration(int64(process) * int64(form.drift))
	b := branch{forest: parented.NewForest(parented.ForestConfig{PageSize: 10, Now: func() time.Time { return time.Now().Add(ahead) }})}
	var err error
	b.notes, err = repository.New[Note](container, form.names("Note", formerly))
	must(w, err)
	kept := form.policies()
	under := container
	if form.apart {
		under = containerOf(w, "below")
	}
	must(w, parented.Register(b.forest, b.notes, kept[0]))
	b.comments, err = parented.New[Comment](b.forest, b.notes, under, parented.Config{Config: form.namesBelow("Comment", formerly), Rule: r.comments, Policy: kept[1]})
	must(w, err)
	b.replies, err = parented.New[Reply](b.forest, b.comments.Items(), under, parented.Config{Config: form.namesBelow("Reply", formerly), Rule: r.replies, Policy: kept[2]})
	must(w, err)
	if form.hasCities() {
		return b
	}
	b.buckets, err = parented.NewBuckets[string](b.forest, b.notes, container, parented.BucketConfig{
		Config: parented.Config{Config: form.names("Entry", formerly), Rule: parented.Cascade}, Capacity: cmp.Or(form.capacity, 2),
	})
	must(w, err)
	return b
}

// setupBranch leaves notes a and b; under a, comment c with reply r when asked. Where that is the shape, a and r have former names, or a and its branch stand in a
// second city too.
func setupBranch(w *emulatortest.World, reply bool) {
	forever := int32(-1)
	form := *emulatortest.State[shape](w)
	paths := form.paths
	if paths == nil {
		paths = []string{"/tenantId", "/entityType"}
	}
	createContainer(w, "main", azcosmos.ContainerProperties{DefaultTimeToLive: &forever}, paths...)
	if form.apart {
		createContainer(w, "below", azcosmos.ContainerProperties{DefaultTimeToLive: &forever}, "/tenantId", "/entityType")
	}
	former, b := branchNamed(w, cascade(), form.former), branchOf(w, cascade())
	plant := func(id string) {
		here, key := form.at(id)
		n := note(here, "a", 0)
		c := &Comment{Body: "c"}
		r := &Reply{Body: "r"}
		if len(key) > 0 {
			n.City = fmt.Sprint(key[0])
			c.City, r.City = n.City, n.City
		}
		must(w, former.notes.In("acme", key...).Create(w.Context(), n))
		if id == "b" {
			return
		}
		c.ID, r.ID = "c", "r"
		if form.apart && id == "A" {
			c.ID, r.ID = "C", "R"
		}
		must(w, b.comments.Under(n).Create(w.Context(), c))
		if reply {
			must(w, former.replies.Under(c).Create(w.Context(), r))
		}
	}
	plant("a")
	plant("b")
	if form.hasCities() {
		plant("A")
	}
}

// mend is what a service does after any crash: resume what was begun, and sweep what came at the instant of a crash.
func mend(r rules) func(w *emulatortest.World) {
	return func(w *emulatortest.World) {
		b := branchOf(w, r)
		var err error
		for range 3 { // a tree that others hold up is left to the next one
			if _, err = b.forest.Resume(w.Context()); err == nil {
				break
			}
		}
		must(w, err)
		time.Sleep(2 * time.Minute)
		_, err = b.forest.Sweep(w.Context(), "acme", nil)
		must(w, err)
	}
}

// standing is the tree as readers see it: ids with their parents.
func standing(w *emulatortest.World, r rules) (map[string]string, error) {
	b, form := branchOf(w, r), *emulatortest.State[shape](w)
	seen := map[string]string{}
	for n, err := range b.notes.In("acme").Query(w.Context(), repository.All()) {
		if err != nil {
			return nil, err
		}
		seen[form.seen(n.ID, n.City)] = "root"
	}
	for c, err := range b.comments.In("acme").Query(w.Context(), repository.All()) {
		if err != nil {
			return nil, err
		}
		seen[form.seenBelow(c.ID, c.City)] = form.seen(string(c.ParentID), c.City)
	}
	for c, err := range b.replies.In("acme").Query(w.Context(), repository.All()) {
		if err != nil {
			return nil, err
		}
		seen[form.seenBelow(c.ID, c.City)] = form.seenBelow(string(c.ParentID), c.City)
	}
	return seen, nil
}

// dangling says which document stands without its parent; one that was orphaned has none.
func dangling(seen map[string]string) error {
	for id, parent := range seen {
		if _, there := seen[parent]; parent != "root" && parent != "" && !there {
			return fmt.Errorf("%s stands without its parent %s", id, parent)
		}
	}
	return nil
}

// isDefinite says whether an answer says that nothing was changed.
func isDefinite(err error) bool {
	return err != nil && !errors.Is(err, repository.ErrAmbiguous) && !errors.Is(err, emulatortest.ErrKilled)
}

// answers are what the actors of a run were told, where a refusal is no failure of the scenario.
type (
	answers      struct{ first, second error }
	threeAnswers struct{ first, second, third error }
)

// outcomeOf is what an actor was told, or that it was killed.
func outcomeOf(w *emulatortest.World, actor string, told error) error {
	if errors.Is(w.Outcome(actor), emulatortest.ErrKilled) {
		return emulatortest.ErrKilled
	}
	return told
}

// refused is refusalIsFine for verbs of trees.
func refused(err error) error {
	if errors.Is(err, repository.ErrDanglingRef) || errors.Is(err, repository.ErrHasChildren) {
		return nil
	}
	return refusalIsFine(err)
}

// someKinds are the faults for scenarios of many requests: all in full, and in go test those that a tree or a feed is most likely to break at.
func someKinds(t *testing.T) []emulatortest.FaultKind {
	t.Helper()
	if inFull() {
		return nil
	}
	return kindsOf("killed", "cut-after", "late-2", "suspended", "behind-2")
}

// exploreTreeOf explores a scenario of trees, in which writes that were forgotten are made again.
func exploreTreeOf(t *testing.T, s emulatortest.Scenario, sabotage map[string]func(w *emulatortest.World)) {
	t.Helper()
	emulatortest.Explore(t, s, emulatortest.ExploreOptions{Budget: time.Nanosecond, Faults: someKinds(t), Sabotage: sabotage})
}

// lostNote is a sabotage that every check of a tree has to notice: a note goes around the forest.
func lostNote(id string) map[string]func(w *emulatortest.World) {
	return map[string]func(w *emulatortest.World){"a note is removed around the forest": func(w *emulatortest.World) {
		here, key := emulatortest.State[shape](w).at(id)
		notes, err := repository.New[Note](containerOf(w, "main"), repository.Config{Layout: emulatortest.State[form](w).layout, PartitionKey: emulatortest.State[shape](w).paths})
		must(w, err)
		must(w, notes.In("acme", key...).Delete(w.Context(), here, nil))
	}}
}
