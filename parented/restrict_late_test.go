package parented_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// fourLevels are all repositories of one process.
type fourLevels struct {
	forest    *parented.Forest
	notes     *repository.Repository[Note]
	comments  *parented.Repository[Comment, Note]
	replies   *parented.Repository[Reply, Comment]
	reactions *parented.Repository[Reaction, Reply]
}

// forests are processes over one database, with the same policies and rules on each level.
type forests struct {
	e    *emulatortest.Emulator
	db   string
	soft [4]parented.Policy
	rule [4]parented.Rule
}

func (w forests) open(t *testing.T, s *stepper) fourLevels {
	t.Helper()
	client := w.e.Client(nil)
	if s != nil {
		client = clientOf(w.e, s)
	}
	db, err := client.NewDatabase(w.db)
	must(t, err)
	container, err := db.NewContainer("items")
	must(t, err)
	g := fourLevels{forest: parented.NewForest(parented.ForestConfig{})}
	g.notes, err = repository.New[Note](container, repository.Config{})
	must(t, err)
	must(t, parented.Register(g.forest, g.notes, w.soft[0]))
	g.comments, err = parented.New[Comment](g.forest, g.notes, container, parented.Config{Rule: w.rule[1], Policy: w.soft[1]})
	must(t, err)
	g.replies, err = parented.New[Reply](g.forest, g.comments.Items(), container, parented.Config{Rule: w.rule[2], Policy: w.soft[2]})
	must(t, err)
	g.reactions, err = parented.New[Reaction](g.forest, g.replies.Items(), container, parented.Config{Rule: w.rule[3], Policy: w.soft[3]})
	must(t, err)
	return g
}

func forestsOf(t *testing.T, soft [4]parented.Policy, rule [4]parented.Rule) forests {
	e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
	return forests{e, plant(t, planting{client: e.Client(nil)}).database.ID(), soft, rule}
}

// An Upsert under Restrict beside a soft delete with a plan: neither is left unfinished.
func TestAPlannedDeleteDuringAnUpsert(t *testing.T) {
	t.Parallel()
	soft := parented.Policy{Retain: 24 * time.Hour}
	for pre := 1; pre < 3; pre++ {
		for d := range 16 {
			for w2 := range 3 {
				t.Run(fmt.Sprintf("writer %d, delete %d, writer %d", pre, d, w2), func(t *testing.T) {
					t.Parallel()
					ctx := t.Context()
					w := forestsOf(t, [4]parented.Policy{soft}, [4]parented.Rule{0, parented.Cascade, parented.Restrict, parented.Cascade})
					g := w.open(t, nil)
					for _, id := range []string{"n", "m"} {
						n := &Note{Title: id}
						n.ID = id
						must(t, g.notes.In("acme").Create(ctx, n))
					}
					c, c0 := commentOf("n", "c"), commentOf("m", "c0")
					must(t, g.comments.In("acme").Create(ctx, c))
					must(t, g.comments.In("acme").Create(ctx, c0))
					must(t, g.replies.In("acme").Create(ctx, replyTo(c0, "r", "old")))
					plan, err := g.notes.In("acme").PlanDelete(ctx, "n")
					must(t, err)
					ws, ds := newStepper(), newStepper()
					wg, dg := w.open(t, ws), w.open(t, ds)
					var wrote, deleted error
					go func() { defer close(ws.ended); wrote = wg.replies.In("acme").Upsert(ctx, replyTo(c, "r", "new")) }()
					ds.start(func() {
						deleted = dg.notes.In("acme").Delete(ctx, "n", &repository.DeleteOptions{Plan: plan.Token})
					})
					ws.step(pre)
					ds.step(d)
					ws.step(w2)
					ds.finish()
					ws.finish()
					var resumed []error
					for range 2 {
						for _, g := range []fourLevels{g, wg, dg} {
							_, err := g.forest.Resume(ctx, "acme")
							resumed = append(resumed, err)
						}
					}
					n, err := engine.CollectionOf(g.notes).Outline(ctx, "acme", nil, "n")
					must(t, err)
					r, err := engine.CollectionOf(g.replies.Items()).Outline(ctx, "acme", nil, "r")
					must(t, err)
					if n.TTL == -1 || r.TTL == -1 {
						_, swept := g.forest.Sweep(ctx, "acme", anyAge)
						t.Errorf("the delete said %v\nthe upsert %v\nafter six Resumes (%v) the note is in %v, the reply in %v\ndelete of the reply: %v\nmove: %v\nrestore of the note: %v\ndelete of the note: %v\nsweep %v", deleted, wrote, resumed[5], n.Journal, r.Journal,
							g.replies.In("acme").Delete(ctx, "r", nil), g.replies.Move(ctx, "acme", "r", "c0"), g.notes.In("acme").Restore(ctx, "n"), g.notes.In("acme").Delete(ctx, "n", nil), swept)
					}
					if n.DeletedAt == "" && r.DeletedAt != "" || n.DeletedAt != "" && r.DeletedAt == "" && r.ParentID == "c" {
						t.Errorf("delete %v, upsert %v: note %q reply %q", deleted, wrote, n.DeletedAt, r.DeletedAt)
					}
				})
			}
		}
	}
	_ = context.Background
}

// An Upsert under Restrict beside a purge: what was there before is not destroyed.
func TestAPurgeDuringAnUpsert(t *testing.T) {
	t.Parallel()
	soft := parented.Policy{Retain: 24 * time.Hour}
	for pre := 1; pre < 3; pre++ {
		for d := range 7 {
			for w2 := range 5 {
				t.Run(fmt.Sprintf("writer %d, purge %d, writer %d", pre, d, w2), func(t *testing.T) {
					t.Parallel()
					ctx := t.Context()
					w := forestsOf(t, [4]parented.Policy{soft}, [4]parented.Rule{0, parented.Restrict, parented.Cascade, parented.Cascade})
					g := w.open(t, nil)
					for _, id := range []string{"n", "m"} {
						n := &Note{Title: id}
						n.ID = id
						must(t, g.notes.In("acme").Create(ctx, n))
					}
					must(t, g.comments.In("acme").Create(ctx, commentOf("m", "c")))
					ws, ps := newStepper(), newStepper()
					wg, pg := w.open(t, ws), w.open(t, ps)
					var wrote, purged error
					go func() { defer close(ws.ended); wrote = wg.comments.In("acme").Upsert(ctx, commentOf("n", "c")) }()
					ws.step(pre)
					must(t, g.notes.In("acme").Delete(ctx, "n", nil))
					go func() { defer close(ps.ended); purged = pg.notes.In("acme").Purge(ctx, "n") }()
					ps.step(d)
					n, err := engine.CollectionOf(g.notes).Outline(ctx, "acme", nil, "n")
					purging := err == nil && n.Journal != nil && n.Journal.Phase == "purging"
					before, err := engine.CollectionOf(g.comments.Items()).Outline(ctx, "acme", nil, "c")
					must(t, err)
					ws.step(w2)
					ps.finish()
					ws.finish()
					_, err = g.forest.Resume(ctx, "acme")
					must(t, err)
					if there, err := g.comments.In("acme").Exists(ctx, "c"); purging && before.DeletedAt == "" && (err != nil || !there) {
						t.Errorf("the comment was there when the purge had begun; the purge said %v, the upsert %v; the comment is there: %t, %v", purged, wrote, there, err)
					}
				})
			}
		}
	}
}
