package repository_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/cosmosgrove/grove/repository"
)

const newer = `,"color":"blue","_theirs":{"deep":[1]},"address":{"city":"Leeds","zip":"LS1"},
	"steps":[{"id":"a","hour":1,"who":"ada"},{"id":"b","hour":2,"who":"bob"}],"dates":{"x":{"from":"2026-01-01T00:00:00.0000000Z","until":"2027"}}`

// readers are the ways to an entity that may be written again.
func readers(b *jobBundle) map[string]func(t *testing.T) *Job {
	one := func(n *Job, err error) func(t *testing.T) *Job {
		return func(t *testing.T) *Job { must(t, err); return n }
	}
	return map[string]func(t *testing.T) *Job{
		"Get":   func(t *testing.T) *Job { return one(b.jobs.Get(t.Context(), "n"))(t) },
		"First": func(t *testing.T) *Job { return one(b.jobs.First(t.Context(), repository.All()))(t) },
		"Query": func(t *testing.T) *Job {
			for n, err := range b.jobs.Query(t.Context(), repository.All().OrderBy("due")) {
				return one(n, err)(t)
			}
			return nil
		},
		"Page": func(t *testing.T) *Job {
			page, err := b.jobs.Page(t.Context(), repository.All(), repository.PageOptions{})
			must(t, err)
			return page.Items[0]
		},
		"GetMany": func(t *testing.T) *Job {
			many, err := b.jobs.GetMany(t.Context(), "n")
			must(t, err)
			return many[0]
		},
		"Patch": func(t *testing.T) *Job {
			return one(b.jobs.Patch(t.Context(), "n", repository.Set("/price", 2)))(t)
		},
		"Read in a batch": func(t *testing.T) *Job {
			var n Job
			must(t, b.jobs.Batch().Read("n", &n).Commit(t.Context()))
			return &n
		},
	}
}

func writers(b *jobBundle) map[string]func(t *testing.T, n *Job) error {
	return map[string]func(t *testing.T, n *Job) error{
		"Replace": func(t *testing.T, n *Job) error { return b.jobs.Replace(t.Context(), n) },
		"Save":    func(t *testing.T, n *Job) error { return b.jobs.Save(t.Context(), n) },
		"Upsert":  func(t *testing.T, n *Job) error { return b.jobs.Upsert(t.Context(), n) },
		"Batch":   func(t *testing.T, n *Job) error { return b.jobs.Batch().Replace(n).Commit(t.Context()) },
		"SaveAll": func(t *testing.T, n *Job) error {
			_, err := b.jobs.SaveAll(t.Context(), slices.Values([]*Job{n}), nil)
			return err
		},
		"Mutate": func(t *testing.T, n *Job) error {
			got, err := b.jobs.Mutate(t.Context(), n.ID, func(m *Job) error {
				etag := m.ETag
				*m = *n
				m.ETag = etag
				return nil
			})
			if err == nil {
				*n = *got
			}
			return err
		},
	}
}

func TestUnknownMembersSurviveEveryWrite(t *testing.T) {
	t.Parallel()
	ways := setupJobs(t)
	for reader := range readers(ways) {
		for writer := range writers(ways) {
			t.Run(reader+" and "+writer, func(t *testing.T) {
				t.Parallel()
				b := setupJobs(t)
				b.store(t, "n", newer)
				n := readers(b)[reader](t)
				n.Price, n.Address.City = 7, "York"
				n.Steps = []Step{{ID: "new", Hour: 9}, {ID: "b", Hour: 20}}
				must(t, writers(b)[writer](t, n))
				got := b.stored(t, "n")
				for _, name := range []string{"_rid", "_self", "_etag", "_attachments", "_ts", "_ops", "_op"} {
					delete(got, name)
				}
				var want map[string]any
				must(t, json.Unmarshal([]byte(`{"id":"n","tenantId":"acme","entityType":"Job","due":"0001-01-01T00:00:00.0000000Z","small":0,"signed":0,"big":0,
					"text":"0","flag":"false","price":7,"color":"blue","_theirs":{"deep":[1]},"address":{"city":"York","zip":"LS1"},
					"steps":[{"id":"new","hour":9},{"id":"b","hour":20,"who":"bob"}],"dates":{"x":{"from":"2026-01-01T00:00:00.0000000Z","until":"2027"}}}`), &want))
				if !reflect.DeepEqual(got, want) {
					t.Errorf("stored\n%v\nnot\n%v", got, want)
				}
				again, err := b.jobs.Get(t.Context(), "n")
				must(t, err)
				if again.TS = 0; writer != "Upsert" && !reflect.DeepEqual(again, n) && reader != "Patch" {
					t.Errorf("written %+v\nread %+v", n, again)
				}
			})
		}
	}
}

// An entity that was written is the one that is read.
func TestWrittenIsRead(t *testing.T) {
	t.Parallel()
	for name := range writers(setupJobs(t)) {
		b := setupJobs(t)
		n := job("n")
		n.ByName, n.Steps = map[string]int64{"x": 1}, []Step{{ID: "s"}}
		must(t, b.jobs.Create(t.Context(), n))
		must(t, writers(b)[name](t, n))
		got, err := b.jobs.Get(t.Context(), "n")
		must(t, err)
		if got.TS = 0; !reflect.DeepEqual(got, n) {
			t.Errorf("%s: written %+v\nread %+v", name, n, got)
		}
	}
}

func TestRemovedWithWhatHeldThem(t *testing.T) {
	t.Parallel()
	b := setupJobs(t)
	b.store(t, "n", newer)
	_, err := b.jobs.Mutate(t.Context(), "n", func(n *Job) error {
		n.Address, n.Steps, n.Dates = nil, n.Steps[1:], map[string]Interval{"y": n.Dates["x"]}
		return nil
	})
	must(t, err)
	got := b.stored(t, "n")
	if got["address"] != nil || len(got["steps"].([]any)) != 1 || got["dates"].(map[string]any)["y"].(map[string]any)["until"] != nil {
		t.Errorf("stored %v", got)
	}
	if got["steps"].([]any)[0].(map[string]any)["who"] != "bob" || got["color"] != "blue" {
		t.Errorf("stored %v", got)
	}
}
