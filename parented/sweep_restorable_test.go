package parented_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// leftBehind is a tree that was deleted softly, of which one child stayed: a comment with a reply or a reply, as
// the delete did not see it, or as a part that a late process hid and never ended.
type leftBehind struct {
	grove
	emulator *emulatortest.Emulator
	planting planting
	note     *Note
	whole    string // what present counts when all is there
}

type leaving struct {
	entityType string
	// hidden says that a late process hid it. again says that it is a blind write of what was hidden with the tree, else
	// it is new.
	hidden, again bool
	vote          parented.Rule
}

func (l leaving) String() string {
	return fmt.Sprintf("%s, hidden: %t, written again: %t", l.entityType, l.hidden, l.again)
}

// leavings are all kinds of what can be left; a late process hides nothing that was written again.
func leavings() (all []leaving) {
	for _, entityType := range []string{"Comment", "Reply"} {
		all = append(all, leaving{entityType: entityType}, leaving{entityType: entityType, hidden: true}, leaving{entityType: entityType, again: true})
	}
	return all
}

func leaveBehind(t *testing.T, how leaving) leftBehind {
	t.Helper()
	ctx := t.Context()
	e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
	p := planting{client: e.Client(nil), note: parented.Policy{Retain: 24 * time.Hour}, vote: cmp.Or(how.vote, parented.Cascade)}
	g := plant(t, p)
	note := g.tree(t, "acme", 2, 2)
	comment, err := g.comments.Under(note).First(ctx, repository.All())
	must(t, err)
	id := comment.ID
	if how.entityType == "Reply" {
		reply, err := g.replies.Under(comment).First(ctx, repository.All())
		must(t, err)
		id = reply.ID
	}
	container, err := g.database.NewContainer("items")
	must(t, err)
	key := azcosmos.NewPartitionKeyString("acme").AppendString(how.entityType)
	before, err := container.ReadItem(ctx, key, id, nil)
	must(t, err)
	must(t, g.notes.In("acme").Delete(ctx, note.ID, nil))
	l := leftBehind{g, e, p, note, "2 comments, 4 replies"}
	raw := before.Value
	if !how.again {
		raw = bytes.Replace(raw, []byte(id), []byte("late"), 1)
		l.whole = map[string]string{"Comment": "3 comments, 5 replies", "Reply": "2 comments, 5 replies"}[how.entityType]
		id = "late"
	}
	_, err = container.UpsertItem(ctx, key, raw, nil)
	must(t, err)
	if how.entityType == "Comment" && !how.again {
		c := &Comment{}
		c.TenantID, c.ID = "acme", id
		must(t, g.replies.Under(c).Create(ctx, &Reply{Body: "late"}))
	}
	if how.vote == parented.Restrict {
		must(t, g.votes.In("acme").Create(ctx, voteUnder(id)))
	}
	if how.hidden {
		_, err = container.UpsertItem(ctx, key, partOf(t, container, note.ID, raw), nil)
		must(t, err)
	}
	return l
}

// partOf is a document that the delete of the note has hidden, and not ended with.
func partOf(t *testing.T, container *azcosmos.ContainerClient, note string, raw []byte) []byte {
	t.Helper()
	stored, err := container.ReadItem(t.Context(), azcosmos.NewPartitionKeyString("acme").AppendString("Note"), note, nil)
	must(t, err)
	var root, part map[string]any
	must(t, json.Unmarshal(stored.Value, &root))
	must(t, json.Unmarshal(raw, &part))
	journal := root["_deletion"].(map[string]any)
	part["deletedAt"], part["ttl"] = root["deletedAt"], -1
	part["_deletion"] = map[string]any{"phase": "part", "run": journal["run"]}
	raw, err = json.Marshal(part)
	must(t, err)
	return raw
}

func voteUnder(comment string) *Vote {
	v := &Vote{Up: true}
	v.ParentID = tenantitem.Ref[Comment](comment)
	return v
}

// present counts what can be seen.
func (l leftBehind) present(t *testing.T) string {
	t.Helper()
	comments, err := l.comments.In("acme").Count(context.Background(), repository.All())
	must(t, err)
	replies, err := l.replies.In("acme").Count(context.Background(), repository.All())
	must(t, err)
	return fmt.Sprintf("%d comments, %d replies", comments, replies)
}

var anyAge = &parented.SweepOptions{MinAge: time.Nanosecond}

// A child that a soft delete of its parent left goes with it when a sweep comes by, and comes back with it.
func TestASweepLosesNothingThatARestoreBringsBack(t *testing.T) {
	t.Parallel()
	for _, how := range leavings() {
		t.Run(how.String(), func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			l := leaveBehind(t, how)
			swept, err := l.forest.Sweep(ctx, "acme", anyAge)
			must(t, err)
			if swept[how.entityType] != 1 || len(swept) != 1 {
				t.Errorf("swept %v", swept)
			}
			if got := l.present(t); got != "0 comments, 0 replies" {
				t.Errorf("after the sweep: %s", got)
			}
			swept, err = l.forest.Sweep(ctx, "acme", anyAge)
			if must(t, err); len(swept) != 0 {
				t.Errorf("swept again: %v", swept)
			}
			must(t, l.notes.In("acme").Restore(ctx, l.note.ID))
			if got := l.present(t); got != l.whole {
				t.Errorf("after the restore: %s, want %s", got, l.whole)
			}
			must(t, l.notes.In("acme").Delete(ctx, l.note.ID, nil))
			must(t, l.notes.In("acme").Purge(ctx, l.note.ID))
			if left := l.stored(t, "acme"); len(left) != 0 {
				t.Errorf("after a purge there are still %v", left)
			}
		})
	}
}

// What Restrict keeps is counted by a sweep, and stays.
func TestASweepKeepsAChildThatIsKept(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	l := leaveBehind(t, leaving{entityType: "Comment", vote: parented.Restrict})
	for range 2 {
		swept, err := l.forest.Sweep(ctx, "acme", anyAge)
		must(t, err)
		if swept["Comment"] != 1 || len(swept) != 1 {
			t.Errorf("swept %v", swept)
		}
		if got := l.present(t); got != "1 comments, 1 replies" {
			t.Errorf("after the sweep: %s", got)
		}
	}
	must(t, l.notes.In("acme").Restore(ctx, l.note.ID))
	if got := l.present(t); got != l.whole {
		t.Errorf("after the restore: %s, want %s", got, l.whole)
	}
}

// What is swept there expires, an hour after its parent.
func TestASweptChildExpiresWithItsParent(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it moves the clock")
	for _, how := range leavings() {
		t.Run(how.String(), func(t *testing.T) {
			t.Parallel()
			l := leaveBehind(t, how)
			_, err := l.forest.Sweep(t.Context(), "acme", anyAge)
			must(t, err)
			l.emulator.Clock().Advance(24*time.Hour - time.Minute)
			must(t, l.notes.In("acme").Restore(t.Context(), l.note.ID))
			if got := l.present(t); got != l.whole {
				t.Errorf("after the restore: %s, want %s", got, l.whole)
			}
			must(t, l.notes.In("acme").Delete(t.Context(), l.note.ID, nil))
			l.emulator.Clock().Advance(26 * time.Hour)
			if left := l.stored(t, "acme"); len(left) != 0 {
				t.Errorf("there are still %v", left)
			}
		})
	}
}

// While one process sweeps, restores or purges, another one does one of these from beginning to end, at each of the
// requests of the first, which then goes on or dies. The tree is whole in the end, or gone, once a third process has taken up what died.
func TestASweepAndARestoreAtOnce(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it holds processes up")
	sweep := func(l leftBehind, g grove) error {
		_, err := g.forest.Sweep(context.Background(), "acme", anyAge)
		return err
	}
	restore := func(l leftBehind, g grove) error { return g.notes.In("acme").Restore(context.Background(), l.note.ID) }
	purge := func(l leftBehind, g grove) error { return g.notes.In("acme").Purge(context.Background(), l.note.ID) }
	for name, verbs := range map[string]struct {
		first, second func(leftBehind, grove) error
		requests      int32 // of the first, where a comment was left
	}{
		"a restore in a sweep": {sweep, restore, 21},
		"a sweep in a restore": {restore, sweep, 12},
		"a sweep in a sweep":   {sweep, sweep, 21},
		"a purge in a sweep":   {sweep, purge, 21},
		"a sweep in a purge":   {purge, sweep, 16},
	} {
		for _, how := range leavings() {
			if how.again {
				continue // a restore before the sweep can't know of it; see docs/deletes.md
			}
			for _, dies := range []bool{false, true} {
				for n := range verbs.requests {
					if !strings.Contains(name, "restore") && (n%2 == 0) == dies {
						continue
					}
					t.Run(fmt.Sprintf("%s, %s, it dies: %t, it stops at %d", name, how, dies, n+1), func(t *testing.T) {
						t.Parallel()
						l := leaveBehind(t, how)
						l.atOnce(t, verbs.first, verbs.second, n+1, dies)
						stored, there := l.stored(t, "acme"), l.present(t)
						switch {
						case strings.Contains(name, "purge") && stored["Note"] == 0:
							if len(stored) > 0 {
								t.Errorf("the tree is purged, and there are still %v", stored)
							}
						case !strings.Contains(name, "purge") && there != l.whole:
							t.Errorf("%s, want %s", there, l.whole)
						}
					})
				}
			}
		}
	}
}

// atOnce holds one verb up while another one is carried out, and ends with a restore of what is left, if anything is.
func (l leftBehind) atOnce(t *testing.T, first, second func(leftBehind, grove) error, n int32, dies bool) {
	t.Helper()
	ctx := t.Context()
	slow := pauseAt(n)
	p := l.planting
	p.client = clientOf(l.emulator, slow)
	database, err := p.client.NewDatabase(l.database.ID())
	must(t, err)
	other := open(t, database, p)
	var did error
	doing := slow.until(func() { did = first(l, other) })
	if err := second(l, l.grove); err != nil && !errors.Is(err, repository.ErrNotFound) && !errors.Is(err, repository.ErrConflict) {
		t.Error(err)
	}
	if !dies {
		close(slow.goOn)
		<-doing
		if did != nil && !errors.Is(did, repository.ErrNotFound) && !errors.Is(did, repository.ErrConflict) {
			t.Error(did)
		}
	}
	_, err = l.forest.Resume(ctx, "acme")
	must(t, err)
	if _, err = l.forest.Sweep(ctx, "acme", anyAge); err != nil {
		t.Error(err)
	}
	if err := l.notes.In("acme").Restore(ctx, l.note.ID); err != nil && !errors.Is(err, repository.ErrNotFound) && !errors.Is(err, repository.ErrConflict) {
		t.Error(err)
	}
	if dies {
		close(slow.goOn)
		<-doing
	}
}
