package denorm_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/registry"
)

// malformedShapes are what another writer may make of a task.
func malformedShapes() map[string]struct {
	change func(map[string]any)
	at     string
} {
	type shape = struct {
		change func(map[string]any)
		at     string
	}
	return map[string]shape{
		"steps are a text":        {func(doc map[string]any) { doc["plan"].(map[string]any)["steps"] = "a secret" }, "/plan"},
		"the plan is a text":      {func(doc map[string]any) { doc["plan"] = "a secret" }, "/plan"},
		"a step is a number":      {func(doc map[string]any) { doc["plan"].(map[string]any)["steps"].([]any)[0] = 7 }, "/plan"},
		"a copy is a number":      {func(doc map[string]any) { doc["assigneeName"] = 4711 }, "/assigneeName"},
		"a copy in a step is one": {func(doc map[string]any) { step(doc, 1)["personName"] = 4711 }, "/plan/steps/1/personName"},
		"a snapshot is a text":    {func(doc map[string]any) { doc["assigneeAge"] = "a secret" }, "/assigneeAge"},
		"a snapshot in a step":    {func(doc map[string]any) { step(doc, 1)["nameThen"] = 4711 }, "/plan/steps/1/nameThen"},
		"a reference is a number": {func(doc map[string]any) { step(doc, 1)["personId"] = 4711 }, "/plan/steps/1/personId"},
		"a list of links is one":  {func(doc map[string]any) { doc["labels"] = 4711 }, "/labels"},
		"a link is one":           {func(doc map[string]any) { doc["labels"] = []any{4711} }, "/labels"},
		"a count is a text":       {func(doc map[string]any) { doc["commentCount"] = "a secret" }, "/commentCount"},
	}
}

// A holder that something else wrote stops no other one: not when its source changes, not in Audit and not in Repair.
func TestAMalformedHolderStopsNoOther(t *testing.T) {
	t.Parallel()
	for name, malformed := range malformedShapes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			ada := b.person("Ada")
			var tasks []*Task
			for range 5 {
				tasks = append(tasks, b.withSteps(ada))
			}
			b.catchUp()
			b.tamper(tasks[2], malformed.change)
			sound := append(slices.Clone(tasks[:2]), tasks[3:]...)
			b.rename(ada, "Countess")
			b.catchUp()
			b.namesAre(sound, "Countess")

			for _, task := range sound {
				b.tamper(task, func(doc map[string]any) { doc["assigneeName"] = "x"; step(doc, 1)["personName"] = "x" })
			}
			b.reported(tasks[2], malformed.at, len(sound)*2)
			var skipped []denorm.Drift
			progress, err := b.keeper.Repair(b.ctx, acme, &denorm.RepairOptions{Skipped: func(d denorm.Drift) { skipped = append(skipped, d) }})
			b.must(err)
			b.namesAre(sound, "Countess")
			if progress.Skipped != 1 || len(skipped) != 1 || skipped[0].ID != tasks[2].ID || skipped[0].Reason == "" {
				t.Errorf("progress %+v, skipped %+v", progress, skipped)
			}
			b.reported(tasks[2], malformed.at, 0)
		})
	}
}

func (b *testBundle) namesAre(tasks []*Task, want string) {
	b.t.Helper()
	for _, task := range tasks {
		if got := b.reread(task); got.AssigneeName != want || got.Plan.Steps[1].PersonName != want || got.Plan.Steps[1].NameThen != "Ada" {
			b.t.Errorf("a sound task: %q, %+v", got.AssigneeName, got.Plan.Steps[1])
		}
	}
}

// reported asserts that an audit tells of one malformed document, and finds so much else.
func (b *testBundle) reported(malformed *Task, at string, others int) {
	b.t.Helper()
	n, rest := 0, 0
	for _, d := range b.audit() {
		if d.Reason == "" {
			rest++
			continue
		}
		n++
		if d.ID != malformed.ID || d.EntityType != "Task" || d.Pointer != at || d.Want != nil || strings.Contains(d.Reason, "secret") || strings.Contains(d.Reason, "4711") {
			b.t.Errorf("reported: %+v", d)
		}
	}
	if n != 1 || rest != others {
		b.t.Errorf("the audit reports %d malformed members and %d others, want 1 and %d", n, rest, others)
	}
}

// An operator hears of it by log and metric, once, without what the document holds.
func TestAMalformedHolderIsToldOf(t *testing.T) {
	t.Parallel()
	b := setup(t)
	log := &bytes.Buffer{}
	reader := sdkmetric.NewManualReader()
	copies := denorm.New(denorm.Config{Processor: changefeed.Config{
		Logger: slog.New(slog.NewTextHandler(log, nil)), Meters: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)),
	}}, declarations()...)
	plan, err := registry.NewPlan(layout(), entities(), copies.Extension())
	b.must(err)
	_, err = registry.Open(b.client, plan)
	b.must(err)
	b.keeper, err = copies.Keeper()
	b.must(err)
	ada := b.person("Ada")
	malformed, sound := b.withSteps(ada), b.withSteps(ada)
	b.catchUp()
	b.tamper(malformed, func(doc map[string]any) { doc["assigneeName"] = 4711 })
	for i := range 3 {
		b.rename(ada, fmt.Sprint("Ada", i))
		b.catchUp()
	}
	if got := b.reread(sound).AssigneeName; got != "Ada2" {
		t.Errorf("the sound one has %q", got)
	}
	text := log.String()
	if !strings.Contains(text, malformed.ID) || !strings.Contains(text, "/assigneeName") || strings.Contains(text, "4711") {
		t.Errorf("the log: %s", text)
	}
	var metrics metricdata.ResourceMetrics
	b.must(reader.Collect(b.ctx, &metrics))
	var n int64
	for _, scope := range metrics.ScopeMetrics {
		for _, m := range scope.Metrics {
			if sum, ok := m.Data.(metricdata.Sum[int64]); ok && m.Name == "grove.denorm.documents.skipped" {
				n += sum.DataPoints[0].Value
			}
		}
	}
	if versions := int64(strings.Count(text, "document skipped")); n != versions || n < 1 || n > 4 {
		t.Errorf("%d documents were skipped by the metric and %d by the log", n, versions)
	}
}

// A child that something else wrote, and that fits no card, keeps no parent's list stale: the list shows the newest of the others, and
// the child is reported.
func TestAMalformedChildIsLeftOutOfLists(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ada := b.person("Ada")
	var tasks []*Task
	for range 4 {
		tasks = append(tasks, b.task("p1", ada))
	}
	slices.SortFunc(tasks, func(x, y *Task) int { return strings.Compare(y.ID, x.ID) }) // the newest first
	b.catchUp()
	for _, malformed := range tasks[:2] {
		b.tamper(malformed, func(doc map[string]any) { doc["title"] = 4711 })
	}
	b.catchUp()
	_, err := b.tasks.In(acme, "p1").Mutate(b.ctx, tasks[3].ID, func(t *Task) error { t.Title = "new"; return nil })
	b.must(err)
	b.catchUp()
	shows := func() {
		t.Helper()
		got, err := b.persons.In(acme).Get(b.ctx, ada.ID)
		b.must(err)
		if want := []TaskCard{{ID: tasks[2].Ref(), Title: "t"}, {ID: tasks[3].Ref(), Title: "new"}}; !slices.Equal(got.LastTasks, want) || got.TaskCount != 4 {
			t.Errorf("the list is %v of %d", got.LastTasks, got.TaskCount)
		}
	}
	shows()
	reported := map[string]bool{}
	for _, d := range b.audit() {
		if d.Reason == "" || d.EntityType != "Task" || strings.Contains(d.Reason, "4711") {
			t.Errorf("reported: %+v", d)
		}
		reported[d.ID] = true
	}
	if len(reported) != 2 || !reported[tasks[0].ID] || !reported[tasks[1].ID] {
		t.Errorf("reported: %v", reported)
	}
	progress, err := b.keeper.Repair(b.ctx, acme, nil)
	b.must(err)
	if progress.Repaired != 0 || progress.Skipped != 2 {
		t.Errorf("progress: %+v", progress)
	}
	shows()
	// Nothing is wrong with the parent.
	for _, container := range b.keeper.Containers() {
		p, _ := b.keeper.Processor(container)
		for q, err := range p.Quarantined(b.ctx) {
			b.must(err)
			if q.DocumentID == ada.ID {
				t.Errorf("the parent is in quarantine: %s", q.Reason)
			}
		}
	}
}

// So it is where the list changes in the transaction of its children: what is written beside a malformed child shows the others at once.
func TestAMalformedChildInOneTransactionWithItsList(t *testing.T) {
	t.Parallel()
	b := setup(t)
	cfg := registry.Config{Database: "zones", Provision: true, Logger: layout().Logger, Containers: []registry.Container{{ID: "all", PartitionKey: []string{"/tenantId"}}}}
	db, keeper := openLayout(t, b.client, "", cfg, []registry.Declaration{
		registry.EntityOf[Aisle](registry.In("all")), registry.EntityOf[Zone](registry.In("all")), registry.EntityOf[Zoo](registry.In("all")),
	}, []denorm.Declaration{denorm.RecentOf[Zone, Aisle]("aisles", 2)})
	b.must(db.Prepare(b.ctx))
	b.keeper = keeper
	zones, aisles := repo[Zone](t, db), repo[Aisle](t, db)
	zone := &Zone{}
	b.must(zones.In(acme).Create(b.ctx, zone))
	add := func(id string) {
		aisle := &Aisle{ZoneID: zone.Ref()}
		aisle.ID = id
		b.must(aisles.In(acme).Create(b.ctx, aisle))
	}
	shows := func(when string, want ...string) {
		t.Helper()
		got, err := zones.In(acme).Get(b.ctx, zone.ID)
		b.must(err)
		var ids []string
		for _, card := range got.Aisles {
			ids = append(ids, string(card.ID))
		}
		if !slices.Equal(ids, want) {
			t.Errorf("%s: the list shows %v, want %v", when, ids, want)
		}
	}
	all, _ := db.Container("all")
	for _, id := range []string{"a", "b", "c"} {
		add(id)
	}
	b.must(patiently(func() error {
		_, err := all.CreateItem(b.ctx, azcosmos.NewPartitionKeyString(acme), []byte(`{"id":"d","tenantId":"acme","entityType":"Aisle","zoneId":"`+zone.ID+`","bins":"many"}`), nil)
		return err
	}))
	shows("before it was followed", "c", "b")
	b.catchUp()
	shows("with a malformed one", "c", "b")
	add("e")
	shows("with a new one", "e", "c")
	b.must(aisles.In(acme).Delete(b.ctx, "c", nil))
	b.catchUp()
	shows("without one", "e", "b")
	for _, d := range b.audit() {
		if d.ID != "d" || d.Reason == "" {
			t.Errorf("reported: %+v", d)
		}
	}
}

// One document in a thousand is unrepairable: it is reported, and none of the others is stale.
func TestOneMalformedDocumentInAThousand(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ada := b.person("Ada")
	tasks := make([]*Task, 1000)
	for i := range tasks {
		tasks[i] = &Task{Project: "p1", AssigneeID: ada.Ref()}
	}
	_, err := b.tasks.In(acme).SaveAll(b.ctx, slices.Values(tasks), nil)
	b.must(err)
	b.catchUp()
	malformed := tasks[500]
	b.tamper(malformed, func(doc map[string]any) { doc["assigneeName"] = 4711 })
	b.rename(ada, "Countess")
	b.catchUp()
	stale := 0
	for _, d := range b.audit() {
		if d.Reason == "" {
			stale++
		} else if d.ID != malformed.ID {
			t.Errorf("reported: %s %s: %s", d.ID, d.Pointer, d.Reason)
		}
	}
	if stale != 0 {
		t.Errorf("%d documents are stale", stale)
	}
	processor, _ := b.keeper.Processor("tasks")
	n := 0
	for q, err := range processor.Quarantined(b.ctx) {
		b.must(err)
		if n++; q.DocumentID != malformed.ID {
			t.Errorf("in quarantine: %s", q.DocumentID)
		}
	}
	if n != 1 {
		t.Errorf("%d changes are in quarantine, want that of the malformed document", n)
	}
}
