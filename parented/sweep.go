package parented

import (
	"context"
	"errors"
	"time"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
)

// SweepOptions narrow a sweep; nil is the defaults.
type SweepOptions struct {
	// MinAge leaves out children that were written more recently, by the service's
	// clock: their parent may be too new to be seen by every reader. Defaults to a
	// minute.
	MinAge time.Duration
	// Keep only reports.
	Keep bool
}

// Swept counts the children that a sweep found, by entity type.
type Swept map[string]int64

// Sweep looks for children that no delete is going to reach: those whose parent
// does not exist, or was deleted softly without them; those that were hidden by a delete which was broken off
// when an Upsert overwrote its document; and those that a process hid which was late with a
// delete that others had finished and rolled back, and died. The last two it brings back. To the first it applies the rule of
// their relation (apply_rule.go): Cascade removes them or, under a parent that was deleted softly, hides them with it, so that a
// restore of the parent brings them back; Orphan clears their parentId; under
// Restrict, and where they have children themselves that Restrict keeps, they
// are only counted. Such children come from writers that went
// around the repositories, from imports, and from a process that died at the
// instant that the package's documentation names. It reads the outline of
// every child of the tenant and every parent's once.
//
// Nothing calls Sweep by itself: run it when processes were killed, or now and then.
func (f *Forest) Sweep(ctx context.Context, tenant string, opts *SweepOptions) (Swept, error) {
	o := SweepOptions{MinAge: time.Minute}
	if opts != nil {
		o.Keep = opts.Keep
		if opts.MinAge != 0 {
			o.MinAge = opts.MinAge
		}
	}
	if err := checkTenant(ctx, tenant); err != nil {
		return nil, err
	}
	swept := Swept{}
	// The service compares its own times: _ts is in seconds, the function in milliseconds, see
	// https://learn.microsoft.com/azure/cosmos-db/nosql/query/getcurrenttimestampstatic.
	const old = `c["_ts"] <= GetCurrentTimestampStatic() / 1000 - @age`
	for _, n := range f.all() {
		if n.parent == nil {
			continue
		}
		q := presentOrRetained().AndSQL(`IS_STRING(c["parentId"]) AND c["parentId"] != '' AND `+old, engine.P("age", o.MinAge.Seconds()))
		err := f.inChunks(n.Documents(ctx, tenant, nil, q, engine.Outline()), func(outlines []engine.Document) error {
			return f.sweepChunk(ctx, n.parent, tenant, outlines, o.Keep, swept)
		})
		if err != nil {
			return swept, err
		}
	}
	return swept, nil
}

// presentOrRetained finds what can be restored too.
func presentOrRetained() engine.Query {
	return engine.SQL(`NOT IS_DEFINED(c["deletedAt"]) OR c["ttl"] = -1 OR `+memberSQL(engine.JournalField+".phase")+" = @retained", engine.P("retained", phaseRetained))
}

func (f *Forest) sweepChunk(ctx context.Context, r *relation, tenant string, outlines []engine.Document, keep bool, swept Swept) error {
	var named []parentRef
	parents := map[string]*engine.Document{}
	for _, s := range outlines {
		ref := r.namedBy(s)
		if _, seen := parents[ref.text()]; !seen {
			parents[ref.text()] = nil
			named = append(named, ref)
		}
	}
	for parent, err := range r.parent.Documents(ctx, tenant, nil, presentOrRetained().And(r.parentsOf(named)), engine.Outline()) {
		if err != nil {
			return err
		}
		// Of two, where ids that were said to be unique are not, the one that is there.
		if first := parents[r.refTo(parent).text()]; first == nil || isRetained(*first) {
			parents[r.refTo(parent).text()] = &parent
		}
	}
	for _, s := range outlines {
		parent := parents[r.namedBy(s).text()]
		stray := parent != nil && isStray(s, *parent)
		ended := parent != nil && isRetained(*parent)
		// A parent whose delete is under way is there: that delete takes its children.
		if !stray && (parent != nil && !ended || isRetained(s)) {
			continue
		}
		// What was brought back from the run that hides its parent is ahead of it in a restore.
		if ended && rolledBack(s, *parent) {
			back, err := f.beingRestored(ctx, r.parent, tenant, *parent)
			if err != nil {
				return err
			}
			if back {
				continue
			}
		}
		if s.Moving != "" {
			// A move under way: the next sweep looks at what becomes of it.
			if !keep {
				if _, err := f.finishMove(ctx, r.child, tenant, s); err != nil {
					return err
				}
			}
			continue
		}
		swept[r.child.EntityType()]++
		if keep {
			continue
		}
		var err error
		switch {
		case stray:
			err = f.unhideStray(ctx, r.child, tenant, s)
		case ended && r.rule == Cascade:
			err = f.followDelete(ctx, r, tenant, s)
		default:
			err = f.applyRule(ctx, r, tenant, s)
		}
		if err != nil && !errors.Is(err, repository.ErrPreconditionFailed) && !errors.Is(err, repository.ErrHasChildren) {
			return err
		}
	}
	return nil
}
