package repository_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Job has a field of every sort that the service keeps in a way of its own.
type Job struct {
	tenantitem.TenantItem[Job]
	Due     time.Time           `json:"due"`
	Done    *time.Time          `json:"done,omitempty"`
	Small   uint8               `json:"small"`
	Signed  int8                `json:"signed"`
	Big     int64               `json:"big"`
	Text    int64               `json:"text,string"`
	Flag    bool                `json:"flag,string"`
	Price   float64             `json:"price"`
	Exact   json.Number         `json:"exact,omitempty"`
	Scores  []int64             `json:"scores,omitempty"`
	ByName  map[string]int64    `json:"byName,omitempty"`
	Any     any                 `json:"any,omitempty"`
	Steps   []Step              `json:"steps,omitempty"`
	Address *Address            `json:"address,omitempty"`
	Dates   map[string]Interval `json:"dates,omitempty"`
}

type Step struct {
	ID   string `json:"id"`
	Hour int64  `json:"hour"`
}

type Interval struct {
	From time.Time `json:"from"`
}

type jobBundle struct {
	*noteBundle
	jobs *repository.Scope[Job]
}

func setupJobs(t testing.TB) *jobBundle {
	t.Helper()
	b := &jobBundle{noteBundle: setupNotes(t)}
	jobs, err := repository.New[Job](b.container, repository.Config{})
	must(t, err)
	b.jobs = jobs.In("acme")
	return b
}

// store writes a document as another writer does.
func (b *jobBundle) store(t testing.TB, id string, members string) {
	t.Helper()
	body := `{"id":"` + id + `","tenantId":"acme","entityType":"Job"` + members + `}`
	_, err := b.container.UpsertItem(t.Context(), azcosmos.NewPartitionKeyString("acme").AppendString("Job"), []byte(body), nil)
	must(t, err)
}

// stored reads a document around the repository.
func (b *jobBundle) stored(t testing.TB, id string) map[string]any {
	t.Helper()
	resp, err := b.container.ReadItem(t.Context(), azcosmos.NewPartitionKeyString("acme").AppendString("Job"), id, nil)
	must(t, err)
	var out map[string]any
	must(t, json.Unmarshal(resp.Value, &out))
	return out
}

func job(id string) *Job {
	n := &Job{}
	n.ID = id
	return n
}

func TestTimesSortAsTimes(t *testing.T) {
	t.Parallel()
	b, ctx := setupJobs(t), t.Context()
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	times := map[string]time.Time{
		"a": day, "b": day.Add(123 * time.Nanosecond), "c": day.Add(500 * time.Millisecond),
		"d": day.Add(time.Second).In(time.FixedZone("east", 5*3600)), "e": day.Add(time.Hour).In(time.FixedZone("west", -9*3600)),
	}
	for _, id := range []string{"d", "b", "e", "a", "c"} {
		n := job(id)
		n.Due = times[id]
		n.Dates = map[string]Interval{"x": {From: times[id]}}
		must(t, b.jobs.Create(ctx, n))
	}
	if got := b.stored(t, "d")["due"]; got != "2026-01-01T00:00:01.0000000Z" {
		t.Errorf("stored as %v", got)
	}
	ids := func(q repository.Query) (out string) {
		for n, err := range b.jobs.Query(ctx, q) {
			must(t, err)
			out += n.ID
		}
		return out
	}
	for name, tt := range map[string]struct {
		q    repository.Query
		want string
	}{
		"order":      {repository.All().OrderBy("due"), "abcde"},
		"less":       {repository.Where(repository.Lt("due", day.Add(time.Second).In(time.FixedZone("far", -11*3600)))).OrderBy("due"), "abc"},
		"equal":      {repository.Where(repository.Eq("due", day.Add(time.Second).Local())), "d"},
		"below 100":  {repository.Where(repository.Eq("due", day.Add(199*time.Nanosecond))), "b"},
		"text":       {repository.Where(repository.Eq("due", "2026-01-01T05:00:01+05:00")), "d"},
		"between":    {repository.Where(repository.And(repository.Gte("due", day.Add(time.Millisecond)), repository.Lte("due", day.Add(time.Minute)))).OrderBy("due"), "cd"},
		"in":         {repository.Where(repository.In("due", day.In(time.FixedZone("x", 60)), day.Add(time.Hour))).OrderBy("due"), "ae"},
		"raw":        {repository.SQL("c.due > @t", repository.P("t", day.Add(time.Second).Add(-time.Hour).Add(time.Hour).In(time.FixedZone("y", 3600)))), "e"},
		"a prefix":   {repository.Where(repository.StartsWith("due", "2026-01-01T01")), "e"},
		"in objects": {repository.SQL("c.dates.x['from'] = @t", repository.P("t", day.Local())), "a"},
	} {
		if got := ids(tt.q); got != tt.want {
			t.Errorf("%s: %q, not %q", name, got, tt.want)
		}
	}
	if _, err := b.jobs.Explain(repository.Where(repository.Eq("due", "tomorrow"))); !errors.Is(err, repository.ErrInvalid) {
		t.Errorf("text that is no time: %v", err)
	}
	n, err := b.jobs.Patch(ctx, "a", repository.Set("/due", day.Add(time.Minute).Local()).Set("/done", "2026-03-01T12:00:00+02:00").If(repository.Eq("due", day.Local())))
	must(t, err)
	if got := b.stored(t, "a"); got["due"] != "2026-01-01T00:01:00.0000000Z" || got["done"] != "2026-03-01T10:00:00.0000000Z" || !n.Due.Equal(day.Add(time.Minute)) {
		t.Errorf("patched to %v, %v", got["due"], got["done"])
	}
	bad := job("bad")
	bad.Due = time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("west", -3600*2))
	if err := b.jobs.Create(ctx, bad); !errors.Is(err, repository.ErrInvalid) {
		t.Errorf("a year of five digits: %v", err)
	}
}

const tooBig = 1 << 53

func TestIntegersBeyondDoublesAreRefused(t *testing.T) {
	t.Parallel()
	b := setupJobs(t)
	kept := job("kept")
	kept.Big, kept.Text, kept.Price, kept.Scores = tooBig-1, math.MaxInt64, 1e20, []int64{-(tooBig - 1)}
	must(t, b.jobs.Create(t.Context(), kept))
	got, err := b.jobs.Get(t.Context(), "kept")
	must(t, err)
	if got.Big != kept.Big || got.Text != kept.Text || got.Price != 1e20 || got.Scores[0] != kept.Scores[0] {
		t.Errorf("read as %+v", got)
	}
	patch := func(e repository.Edits) error { _, err := b.jobs.Patch(t.Context(), "kept", e); return err }
	query := func(q repository.Query) error {
		for _, err := range b.jobs.Query(t.Context(), q) {
			return err
		}
		return nil
	}
	entity := func(change func(*Job)) *Job {
		n := job("new")
		change(n)
		return n
	}
	entities := map[string]*Job{
		"a field":         entity(func(n *Job) { n.Big = tooBig }),
		"below":           entity(func(n *Job) { n.Big = -tooBig }),
		"a list":          entity(func(n *Job) { n.Scores = []int64{1, tooBig + 1} }),
		"a map":           entity(func(n *Job) { n.ByName = map[string]int64{"ada@example.com": math.MaxInt64} }),
		"an any":          entity(func(n *Job) { n.Any = map[string]any{"x": []any{uint64(math.MaxUint64)}} }),
		"a nested object": entity(func(n *Job) { n.Steps = []Step{{Hour: tooBig}} }),
		"a json.Number":   entity(func(n *Job) { n.Exact = "9007199254740993" }),
	}
	tries := map[string]error{}
	requests := b.emulator.Requests().Count()
	for name, n := range entities {
		tries["Create of "+name] = b.jobs.Create(t.Context(), n)
		tries["Upsert of "+name] = b.jobs.Upsert(t.Context(), n)
		tries["Batch of "+name] = b.jobs.Batch().Create(n).Commit(t.Context())
		receipt, err := b.jobs.SaveAll(t.Context(), slices.Values([]*Job{n}), nil)
		if receipt != nil && len(receipt.Items) == 1 {
			err = receipt.Items[0].Err
		}
		tries["SaveAll of "+name] = err
		n.ETag = `"e"`
		tries["Replace of "+name] = b.jobs.Replace(t.Context(), n)
	}
	tries["Patch"] = patch(repository.Set("/big", int64(tooBig)))
	tries["Patch in a list"] = patch(repository.Edits{}.Add("/scores/-", uint64(tooBig)))
	tries["Patch of an any"] = patch(repository.Set("/any", map[string]any{"x": int64(tooBig)}))
	tries["Increment"] = patch(repository.Increment("/big", tooBig))
	tries["a patch's condition"] = patch(repository.Set("/small", 1).If(repository.Eq("big", int64(tooBig))))
	tries["a parameter"] = query(repository.Where(repository.Eq("big", int64(tooBig))))
	tries["a parameter of In"] = query(repository.Where(repository.In("big", int64(1), int64(tooBig))))
	tries["a raw parameter"] = query(repository.SQL("c.big = @x", repository.P("x", []int64{tooBig})))
	for name, err := range tries {
		switch {
		case !errors.Is(err, repository.ErrInvalid) || !strings.Contains(err.Error(), "2^53"):
			t.Errorf("%s: %v", name, err)
		case !strings.Contains(err.Error(), `json:",string"`):
			t.Errorf("%s shows no way out: %v", name, err)
		case strings.Contains(err.Error(), "ada@"):
			t.Errorf("%s quotes a key: %v", name, err)
		}
	}
	if n := b.emulator.Requests().Count() - requests; n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestNumbersStoredAsText(t *testing.T) {
	t.Parallel()
	b, ctx := setupJobs(t), t.Context()
	n := job("n")
	n.Text, n.Flag = math.MaxInt64, true
	must(t, b.jobs.Create(ctx, n))
	for name, q := range map[string]repository.Query{
		"Eq":      repository.Where(repository.Eq("text", int64(math.MaxInt64))),
		"In":      repository.Where(repository.In("text", 1, int64(math.MaxInt64))),
		"Ne":      repository.Where(repository.Ne("text", 5)),
		"Boolean": repository.Where(repository.Eq("flag", true)),
	} {
		if found, err := b.jobs.First(ctx, q); err != nil || found.Text != math.MaxInt64 {
			t.Errorf("%s: %v %v", name, found, err)
		}
	}
	for name, q := range map[string]repository.Query{
		"Lt":      repository.Where(repository.Lt("text", 5)),
		"Between": repository.Where(repository.And(repository.Gte("text", 1), repository.Lte("text", 5))),
		"a text":  repository.Where(repository.Eq("text", "x")),
	} {
		if _, err := b.jobs.First(ctx, q); !errors.Is(err, repository.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := b.jobs.First(ctx, repository.All().OrderBy("text")); !errors.Is(err, repository.ErrUnsupported) {
		t.Errorf("ORDER BY: %v", err)
	}
	got, err := b.jobs.Patch(ctx, "n", repository.Set("/text", 7).Set("/flag", false))
	must(t, err)
	if stored := b.stored(t, "n"); got.Text != 7 || stored["text"] != "7" || stored["flag"] != "false" {
		t.Errorf("patched to %v, stored %v", got.Text, stored["text"])
	}
	if _, err := b.jobs.Patch(ctx, "n", repository.Increment("/text", 1)); !errors.Is(err, repository.ErrInvalid) || !strings.Contains(err.Error(), "Mutate") {
		t.Errorf("Increment: %v", err)
	}
	if _, err := b.jobs.Patch(ctx, "n", repository.Set("/text", "many")); !errors.Is(err, repository.ErrInvalid) {
		t.Errorf("a text: %v", err)
	}
}

func TestJSONNumberIsANumber(t *testing.T) {
	t.Parallel()
	b, ctx := setupJobs(t), t.Context()
	n := job("n")
	n.Exact = "12.50"
	must(t, b.jobs.Create(ctx, n))
	if got := b.stored(t, "n")["exact"]; got != 12.5 {
		t.Errorf("stored as %#v", got)
	}
	b.store(t, "other", `,"exact":7`)
	got, err := b.jobs.First(ctx, repository.Where(repository.Eq("exact", json.Number("7"))))
	if err != nil || got.Exact != "7" {
		t.Errorf("read as %v: %v", got, err)
	}
	n.Exact = "many"
	if err := b.jobs.Upsert(ctx, n); !errors.Is(err, repository.ErrInvalid) {
		t.Errorf("a json.Number without a number: %v", err)
	}
}

func TestPatchThatDoesNotFitItsField(t *testing.T) {
	t.Parallel()
	b, ctx := setupJobs(t), t.Context()
	n := job("n")
	n.Small, n.Big, n.Signed, n.Scores, n.Steps = 250, tooBig-2, -127, []int64{5}, []Step{{ID: "s"}}
	n.Address, n.ByName = &Address{City: "Leeds"}, map[string]int64{"x": 1}
	must(t, b.jobs.Create(ctx, n))
	requests := b.emulator.Requests().Count()
	for name, e := range map[string]repository.Edits{
		"text on a time":         repository.Set("/due", "evil"),
		"a fraction":             repository.Set("/big", 1.5),
		"300 in a byte":          repository.Set("/small", 300),
		"below a byte":           repository.Set("/small", -1),
		"an object's member":     repository.Set("/address", map[string]any{"city": 5}),
		"an element's member":    repository.Edits{}.Add("/steps/-", map[string]any{"hour": "x"}),
		"a list":                 repository.Set("/scores", []any{1, "x"}),
		"an element":             repository.Set("/scores/0", "x"),
		"inside a map":           repository.Set("/byName/x", "text"),
		"a nested field":         repository.Set("/address/city", []string{"x"}),
		"deletedAt":              repository.Set("/deletedAt", time.Now()),
		"no deletedAt":           repository.Edits{}.Remove("/deletedAt"),
		"ttl":                    repository.Set("/ttl", 5),
		"_etag":                  repository.Set("/_etag", "x"),
		"_ts":                    repository.Set("/_ts", 5),
		"an increment too large": repository.Increment("/small", 256),
		"two of them":            repository.Increment("/small", 200).Increment("/small", 100),
		"behind a set":           repository.Set("/small", 250).Increment("/small", 10),
		"below in between":       repository.Increment("/small", -200).Increment("/small", 200).Increment("/small", 100),
		"no element":             repository.Increment("/scores/-", 1),
	} {
		for how, err := range map[string]error{
			"alone":      func() error { _, err := b.jobs.Patch(ctx, "n", e); return err }(),
			"in a batch": b.jobs.Batch().Patch("n", e).Commit(ctx),
		} {
			if !errors.Is(err, repository.ErrInvalid) {
				t.Errorf("%s, %s: %v", name, how, err)
			}
		}
	}
	if n := b.emulator.Requests().Count() - requests; n != 0 {
		t.Errorf("%d requests were sent", n)
	}
	for name, e := range map[string]repository.Edits{
		"past a byte":    repository.Increment("/small", 6),
		"before a byte":  repository.Increment("/small", -251),
		"past an int64":  repository.Increment("/big", 2),
		"before an int8": repository.Increment("/signed", -2),
		"an element":     repository.Increment("/scores/0", tooBig-5),
		"in a map":       repository.Increment("/byName/x", tooBig-1),
		"missing":        repository.Increment("/byName/none", 1).Increment("/small", 100),
	} {
		if _, err := b.jobs.Patch(ctx, "n", e); !errors.Is(err, repository.ErrPreconditionFailed) {
			t.Errorf("%s: %v", name, err)
		}
		if err := b.jobs.Batch().Patch("n", e).Commit(ctx); !errors.Is(err, repository.ErrPreconditionFailed) {
			t.Errorf("%s in a batch: %v", name, err)
		}
	}
	got, err := b.jobs.Patch(ctx, "n", repository.Increment("/small", 5).Increment("/big", 1).Increment("/signed", -1))
	must(t, err)
	if got.Small != 255 || got.Big != tooBig-1 || got.Signed != -128 {
		t.Errorf("at the ends: %+v", got)
	}
	got, err = b.jobs.Patch(ctx, "n", repository.Set("/small", 1).Increment("/small", 254).Increment("/byName/new", 3).Increment("/scores/0", -9))
	must(t, err)
	if got.Small != 255 || got.ByName["new"] != 3 || got.Scores[0] != -4 {
		t.Errorf("afterwards: %+v", got)
	}
}

// Whatever a patch is given, the document can be read afterwards.
func TestNoPatchHidesItsDocument(t *testing.T) {
	t.Parallel()
	b, ctx := setupJobs(t), t.Context()
	n := job("n")
	n.Scores, n.Steps, n.Address, n.ByName = []int64{1}, []Step{{ID: "s"}}, &Address{}, map[string]int64{"x": 1}
	n.Dates, n.Done = map[string]Interval{"x": {}}, &time.Time{}
	must(t, b.jobs.Create(ctx, n))
	values := []any{
		nil, true, "text", "2026-01-01T00:00:00Z", "7", 1, -1, 300, 1.5, 1e300, math.MaxInt32, json.Number("5"), json.RawMessage(`{"city":1}`),
		[]any{1, "x"}, []int64{1}, map[string]any{"from": 5}, map[string]any{"id": 5}, Step{}, Address{}, Interval{}, time.Now(), &Address{City: "x"},
	}
	paths := []string{
		"/due", "/done", "/small", "/signed", "/big", "/text", "/flag", "/price", "/exact", "/scores", "/scores/0", "/scores/-", "/byName", "/byName/x", "/any",
		"/steps", "/steps/0", "/steps/-", "/steps/0/hour", "/address", "/address/city", "/dates", "/dates/x", "/dates/x/from",
	}
	for _, path := range paths {
		for _, v := range values {
			for _, e := range []repository.Edits{repository.Set(path, v), repository.Edits{}.Add(path, v)} {
				if _, err := b.jobs.Patch(ctx, "n", e); errors.As(err, new(*repository.DecodeError)) {
					t.Fatalf("%s with %T %v: %v", path, v, v, err)
				}
			}
		}
		must(t, b.jobs.Upsert(ctx, n))
	}
}

func TestDeletedAtIsNotTakenFromACaller(t *testing.T) {
	t.Parallel()
	b, ctx := setupJobs(t), t.Context()
	n := job("n")
	must(t, b.jobs.Create(ctx, n))
	now := time.Now()
	marked := func(id string) *Job { n := job(id); n.DeletedAt = &now; return n }
	replaced := marked("n")
	replaced.ETag = n.ETag
	receipt, _ := b.jobs.SaveAll(ctx, slices.Values([]*Job{marked("d")}), nil)
	_, mutated := b.jobs.Mutate(ctx, "n", func(n *Job) error { n.DeletedAt = &now; return nil })
	for name, err := range map[string]error{
		"Create": b.jobs.Create(ctx, marked("a")), "Upsert": b.jobs.Upsert(ctx, marked("b")), "Save": b.jobs.Save(ctx, marked("c")),
		"Replace": b.jobs.Replace(ctx, replaced), "Batch": b.jobs.Batch().Create(marked("e")).Commit(ctx), "SaveAll": receipt.Items[0].Err, "Mutate": mutated,
	} {
		if !errors.Is(err, repository.ErrInvalid) || !strings.Contains(err.Error(), "Delete") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n, err := b.jobs.Count(ctx, repository.All()); n != 1 || err != nil {
		t.Errorf("%d documents: %v", n, err)
	}
}
