package parented_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// A child is stored, and then its parent can't be looked at again. Its writer is told that it is stored and that more is not known, and holds its etag. If the
// parent went in that instant, Resume ends the write; else the child stays.
func TestAFailedParentCheckIsRunLater(t *testing.T) {
	t.Parallel()
	writes := map[string]func(ctx context.Context, a apart, note *Note, c *Comment) error{
		"Create": func(ctx context.Context, a apart, note *Note, c *Comment) error {
			return a.comments.Under(note).Create(ctx, c)
		},
		"Upsert": func(ctx context.Context, a apart, note *Note, c *Comment) error {
			c.ParentID = note.Ref()
			return a.comments.In("acme").Upsert(ctx, c)
		},
		"Batch": func(ctx context.Context, a apart, note *Note, c *Comment) error {
			c.ParentID = note.Ref()
			return a.comments.In("acme").Batch().Create(c).Commit(ctx)
		},
		"SaveAll": func(ctx context.Context, a apart, note *Note, c *Comment) error {
			c.ParentID = note.Ref()
			_, err := a.comments.In("acme").SaveAll(ctx, slices.Values([]*Comment{c}), nil)
			return err
		},
		"Move": func(ctx context.Context, a apart, note *Note, c *Comment) error {
			return a.comments.Move(ctx, "acme", c.ID, note.Ref())
		},
	}
	faults := map[string]emulator.Fault{
		"503": emulator.Answer(http.StatusServiceUnavailable, 0), "403": emulator.Answer(http.StatusForbidden, 0), "cut": emulator.Cut(),
	}
	for verb, write := range writes {
		for _, how := range []string{"503", "403", "cut", "the deadline"} {
			for _, deleted := range []bool{false, true} {
				name := verb + ", " + how
				if deleted {
					name += ", and the parent goes"
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						ctx, end := context.WithCancel(t.Context())
						defer end()
						e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
						_, note := plantApart(t, e.Client(nil))
						first := openApartWith(t, e.Client(nil), parented.Policy{}) // a move leaves no mark then
						other, c := &Note{Title: "other"}, &Comment{Body: "late"}
						must(t, first.notes.In("acme").Create(ctx, other))
						c.ID = "late"
						if verb == "Move" {
							must(t, first.comments.Under(other).Create(ctx, &Comment{ParentedItem: c.ParentedItem}))
						}
						var armed *emulator.ArmedFault
						second := openApartWith(t, clientOf(e, &aroundWrite{before: func() {
							if deleted {
								must(t, first.notes.In("acme").Delete(t.Context(), note.ID, nil))
							}
							if fault, ok := faults[how]; ok {
								armed = e.Fault(fault.On(emulator.ReadItem, emulator.QueryItems).Keep())
							}
						}, after: func() {
							if how == "the deadline" {
								end()
							}
						}}), parented.Policy{})
						err := write(ctx, second, note, c)
						if armed != nil {
							armed.Disarm()
						}
						mustBe(t, err, repository.ErrAmbiguous)
						stored, err := first.comments.In("acme").Get(t.Context(), c.ID)
						must(t, err)
						if verb != "Move" && c.ETag != stored.ETag {
							t.Errorf("the entity has the etag %q, and %q is stored", c.ETag, stored.ETag)
						}
						resumed, err := second.forest.Resume(t.Context())
						must(t, err)
						there, err := first.comments.In("acme").Exists(t.Context(), c.ID)
						must(t, err)
						if there == deleted || (resumed.Finished == 1) != deleted {
							t.Errorf("the child is there: %t; resumed %+v", there, resumed)
						}
						resumed, err = second.forest.Resume(t.Context())
						if must(t, err); resumed != (parented.Resumed{}) {
							t.Errorf("a further Resume: %+v", resumed)
						}
					})
				})
			}
		}
	}
}

// aroundWrite does something before and after the first write of a client.
type aroundWrite struct {
	before, after func()
	done          bool
}

func (a *aroundWrite) Do(req *policy.Request) (*http.Response, error) {
	query := req.Raw().Header.Get("x-ms-documentdb-query") != "" || req.Raw().Header.Get("x-ms-documentdb-isquery") != ""
	if a.done || req.Raw().Method != http.MethodPost || query {
		return req.Next()
	}
	a.done = true
	a.before()
	resp, err := req.Next()
	a.after()
	return resp, err
}

// A child that was moved between its create and the second look at its first parent is the second parent's, and stays where the first one is deleted. That look
// ends a move whose process has died.
func TestACreatedChildThatWasMovedStays(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"Create", "Batch", "later"} {
		for _, policy := range []parented.Policy{{}, {Retain: time.Hour}} { // with it a move leaves a mark
			t.Run(fmt.Sprint(how, ", kept for ", policy.Retain), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					ctx := t.Context()
					e := processes(t, emulatortest.WithClientOptions(*repository.ClientOptions(nil)))
					_, note := plantApart(t, e.Client(nil))
					first := openApartWith(t, e.Client(nil), policy)
					other := &Note{Title: "other"}
					must(t, first.notes.In("acme").Create(ctx, other))
					c := &Comment{Body: "moved"}
					c.ID, c.ParentID = "moved", note.Ref()
					out := func() *emulator.ArmedFault {
						return e.Fault(emulator.Answer(http.StatusForbidden, 0).On(emulator.ReadItem, emulator.QueryItems).Keep())
					}
					var armed *emulator.ArmedFault
					second := openApartWith(t, clientOf(e, &aroundWrite{before: func() {
						must(t, first.notes.In("acme").Delete(ctx, note.ID, nil))
					}, after: func() {
						dead := &aroundWrite{before: func() {}, after: func() { armed = out() }}
						mustBe(t, openApartWith(t, clientOf(e, dead), policy).comments.Move(ctx, "acme", c.ID, other.Ref()), repository.ErrAmbiguous)
						if how != "later" {
							armed.Disarm()
						}
					}}), policy)
					var err error
					if how == "Batch" {
						err = second.comments.In("acme").Batch().Create(c).Commit(ctx)
					} else {
						err = second.comments.In("acme").Create(ctx, c)
					}
					if how == "later" {
						armed.Disarm()
						mustBe(t, err, repository.ErrAmbiguous)
						_, err = second.forest.Resume(ctx)
					}
					must(t, err)
					stored, err := first.comments.In("acme").Get(ctx, c.ID)
					must(t, err)
					if stored.ParentID != other.Ref() {
						t.Errorf("the child is %q's", stored.ParentID)
					}
					resumed, err := first.forest.Resume(ctx)
					if err != nil || resumed != (parented.Resumed{}) {
						t.Errorf("the move is under way: %+v, %v", resumed, err)
					}
				})
			})
		}
	}
}
