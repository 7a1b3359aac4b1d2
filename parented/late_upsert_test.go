package parented_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// A late Upsert of a reaction, below a reply, below a comment whose restore is refused since its note goes: the reaction is not
// there without the comment.
func TestARefusedRestoreDuringALateUpsert(t *testing.T) {
	t.Parallel()
	for w2 := 1; w2 < 9; w2++ {
		for d := 1; d < 6; d++ {
			for w3 := range 4 {
				t.Run(fmt.Sprintf("writer %d, restore %d, writer %d", w2, d, w3), func(t *testing.T) {
					t.Parallel()
					ctx := t.Context()
					e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
					soft := parented.Policy{Retain: 24 * time.Hour}
					p := planting{client: e.Client(nil), note: soft, child: soft, vote: parented.Cascade}
					g := plant(t, p)
					note := g.tree(t, "acme", 1, 1)
					c, err := g.comments.Under(note).First(ctx, repository.All())
					must(t, err)
					r, err := g.replies.Under(c).First(ctx, repository.All())
					must(t, err)
					reaction := func() *Reaction { x := &Reaction{}; x.ID, x.ParentID = "x", r.Ref(); return x }
					must(t, g.reactions.In("acme").Create(ctx, reaction()))
					ws, rs := newStepper(), newStepper()
					wg, rg := g.of(t, e, p, ws), g.of(t, e, p, rs)
					var wrote, restored error
					go func() { defer close(ws.ended); wrote = wg.reactions.In("acme").Upsert(ctx, reaction()) }()
					ws.step(1)
					must(t, g.comments.In("acme").Delete(ctx, c.ID, nil))
					ws.step(w2)
					go func() { defer close(rs.ended); restored = rg.comments.In("acme").Restore(ctx, c.ID) }()
					rs.step(d)
					ws.step(w3)
					must(t, g.notes.In("acme").Delete(ctx, note.ID, nil))
					ws.finish()
					rs.finish()
					_, err = g.forest.Resume(ctx, "acme")
					must(t, err)
					see := func() (c1, r1 bool) {
						c1, err := g.comments.In("acme").Exists(ctx, c.ID)
						must(t, err)
						r1, err = g.reactions.In("acme").Exists(ctx, "x")
						must(t, err)
						return
					}
					if cc, rr := see(); rr && !cc {
						sw, err := g.forest.Sweep(ctx, "acme", anyAge)
						_, after := see()
						t.Errorf("the upsert said %v, the restore %v; the reaction is there without comment and reply; a sweep took %v, %v, and then it is there: %t", wrote, restored, sw, err, after)
					}
				})
			}
		}
	}
}

// A reply that was upserted late is deleted by itself while its note is restored. It stays deleted.
func TestADeleteOfWhatWasUpsertedLate(t *testing.T) {
	t.Parallel()
	for w2 := 1; w2 < 8; w2++ {
		for d := 1; d < 9; d++ {
			t.Run(fmt.Sprintf("writer %d, restore %d", w2, d), func(t *testing.T) {
				t.Parallel()
				ctx := t.Context()
				e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
				soft := parented.Policy{Retain: 24 * time.Hour}
				p := planting{client: e.Client(nil), note: soft}
				db := plant(t, p).database
				open := func(s *stepper) twoLevels {
					client := p.client
					if s != nil {
						client = clientOf(e, s)
					}
					return openTwoLevels(t, client, db.ID(), soft)
				}
				g := open(nil)
				n := &Note{Title: "n"}
				n.ID = "n"
				must(t, g.notes.In("acme").Create(ctx, n))
				c := commentOf("n", "c")
				must(t, g.comments.In("acme").Create(ctx, c))
				must(t, g.replies.In("acme").Create(ctx, replyTo(c, "r", "old")))
				ws, rs := newStepper(), newStepper()
				wg, rg := open(ws), open(rs)
				var wrote, restored error
				go func() { defer close(ws.ended); wrote = wg.replies.In("acme").Upsert(ctx, replyTo(c, "r", "new")) }()
				ws.step(1)
				must(t, g.notes.In("acme").Delete(ctx, "n", nil))
				ws.step(w2)
				go func() { defer close(rs.ended); restored = rg.notes.In("acme").Restore(ctx, "n") }()
				rs.step(d)
				before, err := g.replies.In("acme").Get(ctx, "r")
				if err != nil || before.Body != "new" {
					ws.finish()
					rs.finish()
					t.Skip("not written yet, or hidden")
				}
				deleted := g.replies.In("acme").Delete(ctx, "r", nil)
				ws.finish()
				rs.finish()
				must(t, restored)
				there, err := g.replies.In("acme").Exists(ctx, "r")
				must(t, err)
				if deleted == nil && there {
					t.Errorf("the delete of the reply succeeded, the upsert said %v, and the reply is there", wrote)
				}
				if deleted != nil && !there {
					t.Errorf("the delete of the reply said %v, the upsert %v, and the reply is not there", deleted, wrote)
				}
			})
		}
	}
}

// twoLevels are notes, comments and replies of one process.
type twoLevels struct {
	forest   *parented.Forest
	notes    *repository.Repository[Note]
	comments *parented.Repository[Comment, Note]
	replies  *parented.Repository[Reply, Comment]
}

func openTwoLevels(t *testing.T, client *azcosmos.Client, id string, soft parented.Policy) twoLevels {
	t.Helper()
	db, err := client.NewDatabase(id)
	must(t, err)
	container, err := db.NewContainer("items")
	must(t, err)
	g := twoLevels{forest: parented.NewForest(parented.ForestConfig{})}
	g.notes, err = repository.New[Note](container, repository.Config{})
	must(t, err)
	must(t, parented.Register(g.forest, g.notes, soft))
	g.comments, err = parented.New[Comment](g.forest, g.notes, container, parented.Config{Rule: parented.Cascade})
	must(t, err)
	g.replies, err = parented.New[Reply](g.forest, g.comments.Items(), container, parented.Config{Rule: parented.Cascade, Policy: soft})
	must(t, err)
	return g
}

// What joins a delete that is undone meanwhile is not lost, though its note is deleted again.
func TestAnUpsertBetweenTwoDeletes(t *testing.T) {
	t.Parallel()
	for _, again := range []bool{false, true} {
		for _, sweep := range []bool{false, true} {
			for w2 := 1; w2 < 10; w2++ {
				for w3 := range 4 {
					t.Run(fmt.Sprintf("again %t, sweep %t, %d %d", again, sweep, w2, w3), func(t *testing.T) {
						t.Parallel()
						ctx := t.Context()
						e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
						soft := parented.Policy{Retain: 24 * time.Hour}
						p := planting{client: e.Client(nil), note: soft, vote: parented.Cascade}
						g := plant(t, p)
						note := g.tree(t, "acme", 1, 0)
						c, err := g.comments.Under(note).First(ctx, repository.All())
						must(t, err)
						v := func() *Vote { v := &Vote{}; v.ID, v.ParentID = "v", c.Ref(); return v }
						must(t, g.votes.In("acme").Create(ctx, v()))
						ws := newStepper()
						wg := g.of(t, e, p, ws)
						var wrote error
						if sweep {
							ds := newStepper()
							dg := g.of(t, e, p, ds)
							mortal, die := context.WithCancel(ctx)
							go func() { defer close(ds.ended); _ = dg.votes.In("acme").Upsert(mortal, v()) }()
							ds.step(1)
							must(t, g.notes.In("acme").Delete(ctx, note.ID, nil))
							ds.step(1)
							die()
							ds.finish()
							go func() { defer close(ws.ended); _, wrote = wg.forest.Sweep(ctx, "acme", anyAge) }()
						} else {
							go func() { defer close(ws.ended); wrote = wg.votes.In("acme").Upsert(ctx, v()) }()
							ws.step(1)
							must(t, g.notes.In("acme").Delete(ctx, note.ID, nil))
						}
						ws.step(w2)
						must(t, g.notes.In("acme").Restore(ctx, note.ID))
						ws.step(w3)
						must(t, g.notes.In("acme").Delete(ctx, note.ID, nil))
						if again {
							must(t, g.notes.In("acme").Restore(ctx, note.ID))
						}
						ws.finish()
						if !again {
							must(t, g.notes.In("acme").Restore(ctx, note.ID))
						}
						there, err := g.votes.In("acme").Exists(ctx, "v")
						must(t, err)
						if !there {
							sw, err := g.forest.Sweep(ctx, "acme", anyAge)
							after, _ := g.votes.In("acme").Exists(ctx, "v")
							t.Errorf("it said %v, all is restored, and the vote is hidden; a sweep: %v, %v, and then %t", wrote, sw, err, after)
						}
					})
				}
			}
		}
	}
}

func replyTo(c *Comment, id, body string) *Reply {
	r := &Reply{Body: body}
	r.ID, r.ParentID = id, c.Ref()
	return r
}
