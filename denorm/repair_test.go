package denorm_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
)

// tamper changes a stored task as nobody should: around the repository, which is told only that there is something newer.
func (b *testBundle) tamper(task *Task, change func(map[string]any)) {
	b.t.Helper()
	key := azcosmos.NewPartitionKeyString(acme).AppendString("Task").AppendString(task.Project)
	tasks, _ := b.db.Container("tasks")
	for {
		stored, err := tasks.ReadItem(b.ctx, key, task.ID, nil)
		b.must(err)
		decoder := json.NewDecoder(strings.NewReader(string(stored.Value)))
		decoder.UseNumber()
		var doc map[string]any
		b.must(decoder.Decode(&doc))
		change(doc)
		body, err := json.Marshal(doc)
		b.must(err)
		replaced, err := tasks.ReplaceItem(b.ctx, key, task.ID, body, &azcosmos.ItemOptions{IfMatchEtag: &stored.ETag})
		var answer *azcore.ResponseError
		if errors.As(err, &answer) && (answer.StatusCode == 449 || answer.StatusCode == http.StatusPreconditionFailed) {
			continue // the latter: the replica that was read from is behind
		}
		b.must(err)
		engine.CollectionOf(b.tasks).Saw(*replaced.SessionToken)
		return
	}
}

func (b *testBundle) raw(task *Task) string {
	b.t.Helper()
	key := azcosmos.NewPartitionKeyString(acme).AppendString("Task").AppendString(task.Project)
	tasks, _ := b.db.Container("tasks")
	stored, err := tasks.ReadItem(b.ctx, key, task.ID, nil)
	b.must(err)
	return string(stored.Value)
}

func step(doc map[string]any, i int) map[string]any {
	return doc["plan"].(map[string]any)["steps"].([]any)[i].(map[string]any)
}

func TestDriftIsFoundAndRepaired(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ada := b.person("Ada")
	task := b.withSteps(ada)
	b.catchUp()
	b.tamper(task, func(doc map[string]any) {
		doc["assigneeName"] = "somebody"
		doc["commentCount"] = 7
		step(doc, 1)["personName"] = "somebody"
		step(doc, 1)["nameThen"] = "what was true then"
	})
	var fields []string
	for _, d := range b.audit() {
		fields = append(fields, d.Pointer)
		if d.EntityType != "Task" || d.ID != task.ID || d.TenantID != acme {
			t.Errorf("drift of %s %s", d.EntityType, d.ID)
		}
	}
	slices.Sort(fields)
	if !slices.Equal(fields, []string{"/assigneeName", "/commentCount", "/plan/steps/1/personName"}) {
		t.Errorf("drift in %v", fields)
	}
	progress, err := b.keeper.Repair(b.ctx, acme, nil)
	b.must(err)
	if progress.Repaired != 1 || progress.Compared != 2 {
		t.Errorf("progress: %+v", progress)
	}
	b.noDrift()
	if got := b.reread(task); got.Plan.Steps[1].NameThen != "what was true then" || got.AssigneeName != "Ada" {
		t.Errorf("after the repair: %+v", got)
	}
}

func TestDriftIsRepairedByTheFeedToo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	task := b.withSteps(b.person("Ada"))
	b.catchUp()
	b.tamper(task, func(doc map[string]any) { doc["assigneeName"] = "somebody" })
	b.catchUp()
	b.noDrift()
}

func TestManyElementsAreWrittenAtOnceAndKeepWhatTheStructDoesNotKnow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ada := b.person("Ada")
	task := &Task{Title: "t"}
	for i := range 30 {
		task.Plan.Steps = append(task.Plan.Steps, Step{Note: fmt.Sprint(i), PersonID: ada.Ref()})
	}
	b.must(b.tasks.In(acme, "p1").Create(b.ctx, task))
	b.tamper(task, func(doc map[string]any) {
		step(doc, 29)["secret"] = json.Number("9007199254740991")
		step(doc, 3)["odd/name~"] = "x"
	})
	b.catchUp()
	b.rename(ada, "Countess")
	b.catchUp()
	got := b.reread(task)
	for i, s := range got.Plan.Steps {
		if s.PersonName != "Countess" || s.NameThen != "Ada" || s.Note != fmt.Sprint(i) {
			t.Fatalf("step %d: %+v", i, s)
		}
	}
	if raw := b.raw(task); !strings.Contains(raw, `"secret":9007199254740991`) || !strings.Contains(raw, `"odd/name~":"x"`) {
		t.Error("unknown members were lost")
	}
}

func TestFieldsDeclaredOnExistingDataAreFilled(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ada := b.person("Ada")
	task := b.withSteps(ada)
	b.catchUp()
	b.tamper(task, func(doc map[string]any) {
		delete(doc, "assigneeName")
		delete(doc, "commentCount")
		delete(step(doc, 1), "nameThen")
	})
	if _, err := b.keeper.Repair(b.ctx, acme, nil); err != nil {
		t.Fatal(err)
	}
	if got := b.reread(task); got.AssigneeName != "Ada" || got.Plan.Steps[1].NameThen != "" {
		t.Errorf("without FillSnapshots: %+v", got)
	}
	if _, err := b.keeper.Repair(b.ctx, acme, &denorm.RepairOptions{FillSnapshots: true}); err != nil {
		t.Fatal(err)
	}
	if got := b.reread(task); got.Plan.Steps[1].NameThen != "Ada" {
		t.Errorf("with FillSnapshots: %+v", got)
	}
}

func TestARepairGoesOnWhereItWasStopped(t *testing.T) {
	t.Parallel()
	b := setup(t)
	persons := make([]*Person, 1200)
	for i := range persons {
		persons[i] = &Person{Name: fmt.Sprint("p", i)}
	}
	_, err := b.persons.In(acme).SaveAll(b.ctx, slices.Values(persons), nil)
	b.must(err)
	var resume []string
	all, err := b.keeper.Repair(b.ctx, acme, &denorm.RepairOptions{Progress: func(p denorm.RepairProgress) { resume = append(resume, p.Resume) }})
	b.must(err)
	if all.Compared != 1200 || len(resume) != 3 {
		t.Fatalf("%d compared in %d steps", all.Compared, len(resume))
	}
	rest, err := b.keeper.Repair(b.ctx, acme, &denorm.RepairOptions{Resume: resume[1]})
	b.must(err)
	if rest.Compared > 201 || rest.Compared < 200 {
		t.Errorf("%d compared by the rest", rest.Compared)
	}
	if _, err := b.keeper.Repair(b.ctx, acme, &denorm.RepairOptions{Resume: "x"}); !errors.Is(err, repository.ErrInvalid) {
		t.Errorf("a text that is no position: %v", err)
	}
	if _, err := b.keeper.Repair(b.ctx, "", nil); !errors.Is(err, repository.ErrInvalid) {
		t.Errorf("no tenant: %v", err)
	}
}

func TestADocumentOfAnotherShapeIsQuarantinedAndStopsNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ada := b.person("Ada")
	broken, sound := b.withSteps(ada), b.withSteps(ada)
	b.catchUp()
	b.tamper(broken, func(doc map[string]any) { doc["plan"] = "a secret text" })
	b.tamper(sound, func(doc map[string]any) { doc["assigneeName"] = "somebody" })
	b.catchUp()
	if got := b.reread(sound).AssigneeName; got != "Ada" {
		t.Errorf("the sound document has %q", got)
	}
	tasks, _ := b.keeper.Processor("tasks")
	n := 0
	for q, err := range tasks.Quarantined(b.ctx) {
		b.must(err)
		n++
		if !strings.Contains(q.Reason, "/plan") || strings.Contains(q.Reason, "secret") {
			t.Errorf("the reason: %s", q.Reason)
		}
	}
	if n != 1 {
		t.Errorf("%d changes are in quarantine", n)
	}
}
