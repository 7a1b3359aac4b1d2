package repository

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/tenantitem"
)

// GetMany reads documents by their ids, in the order asked, in one request for
// up to 1,000 of them. An id that is asked for twice comes twice. When some do
// not exist, those that do are returned with a [*MissingError], which is
// [ErrNotFound]; in the result they are left out. So are those that do not fit
// their struct, with a [*DecodeError] each.
//
//go:noinline
func (s *ScopeOf[P]) GetMany(ctx context.Context, ids ...string) ([]P, error) {
	found, err := s.Reader.scope.GetMany(ctx, ids)
	return allAs[P](found), err
}

func (s *scope) GetMany(ctx context.Context, ids []string) ([]any, error) {
	k := engine.Call{Collection: s.c, Op: "GetMany", At: &s.at}
	ctx = k.Begin(ctx)
	found, unread, err := s.getMany(ctx, &k, ids)
	if err != nil {
		return nil, k.End(err)
	}
	out := make([]any, 0, len(ids))
	var missing []string
	for _, id := range ids {
		if entity, ok := found[id]; ok {
			out = append(out, entity)
		} else if !unread.has(id) {
			missing = append(missing, id)
		}
	}
	failed := unread.errs
	if missing != nil {
		failed = append(failed, &MissingError{IDs: missing})
	}
	return out, k.End(errors.Join(failed...))
}

// MissingError names the documents that GetMany did not find, in the order asked.
type MissingError struct{ IDs []string }

// Error says how many are missing and names the first.
func (e *MissingError) Error() string {
	return fmt.Sprintf("not found: %d of the ids, the first is %q", len(e.IDs), e.IDs[0])
}

// Unwrap returns [ErrNotFound].
func (e *MissingError) Unwrap() error { return ErrNotFound }

func (s *scope) getMany(ctx context.Context, k *engine.Call, ids []string) (found map[string]any, unread undecoded, err error) {
	if err := k.Start(ctx); err != nil {
		return nil, unread, err
	}
	if err := s.at.RequireWritable(k.Collection); err != nil {
		return nil, unread, err
	}
	unique := slices.Clone(ids)
	slices.Sort(unique)
	unique = slices.Compact(unique)
	for _, id := range unique {
		if err := tenantitem.ValidateID(id); err != nil {
			return nil, unread, err
		}
	}
	found = make(map[string]any, len(unique))
	if !s.at.Full {
		return found, unread, s.findMany(ctx, k, unique, found, &unread)
	}
	for _, at := range k.Collection.PartitionsOf(s.at) {
		for chunk := range slices.Chunk(unique, engine.MaxIDsPerQuery) {
			chunk = slices.DeleteFunc(slices.Clone(chunk), func(id string) bool { return found[id] != nil || unread.has(id) })
			if len(chunk) == 0 {
				continue
			}
			if err := s.getChunk(ctx, k, &at, chunk, found, &unread); err != nil {
				return nil, unread, err
			}
		}
	}
	return found, unread, nil
}

// findMany looks for documents in all partitions of a scope.
func (s *scope) findMany(ctx context.Context, k *engine.Call, ids []string, found map[string]any, unread *undecoded) error {
	for chunk := range slices.Chunk(ids, engine.MaxIDsPerQuery) {
		err := s.eachAcross(ctx, k, engine.Where(engine.In("id", engine.Anys(chunk)...)), func(entity any, err error) bool {
			var decode *DecodeError
			if errors.As(err, &decode) {
				unread.add(decode.ID, decode)
			} else if err == nil {
				found[engine.MetaOf(entity).ID] = entity
			}
			return true
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// undecoded are the documents of one call that can't be read.
type undecoded struct {
	ids  map[string]bool
	errs []error
}

func (u *undecoded) has(id string) bool { return u.ids[id] }

func (u *undecoded) add(id string, err error) {
	if u.ids == nil {
		u.ids = map[string]bool{}
	}
	u.ids[id] = true
	u.errs = append(u.errs, err)
}

// getChunk asks one logical partition for up to maxIDsPerQuery documents.
func (s *scope) getChunk(ctx context.Context, k *engine.Call, at *engine.Partition, ids []string, found map[string]any, unread *undecoded) error {
	st, err := k.Collection.Compile(at, engine.All(), engine.SelectAll)
	if err != nil {
		return err
	}
	w := k.Collection.Writer(st.Params)
	if err := engine.In("id", engine.Anys(ids)...).Write(w); err != nil {
		return err
	}
	st.Text, st.Params = st.Text+" AND "+w.Text.String(), w.Params
	missing := len(ids)
	for from := ""; ; {
		rows, next, err := engine.FetchPage[engine.Row](ctx, k, at, st, from, missing)
		if err != nil {
			return err
		}
		if err := s.checkRows(rows); err != nil {
			return err
		}
		for i := range rows {
			var decode *DecodeError
			if errors.As(rows[i].Err, &decode) {
				unread.add(decode.ID, decode)
				continue
			}
			found[engine.MetaOf(rows[i].Value).ID] = rows[i].Value
		}
		missing -= len(rows)
		if next == "" || missing == 0 {
			return nil
		}
		from = next
	}
}
