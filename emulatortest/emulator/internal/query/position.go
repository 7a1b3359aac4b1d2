package query

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/eval"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// position is the place of a row in the result; a page begins at one.
type position struct {
	// after is the rid of the item before, from where a stream reads on.
	after string
	// rid and row name the row: the row-th that its item gives.
	rid string
	row int
	// serial numbers the items of one scan from 1, which spares comparing their rids; it is 0 in a position from a token.
	serial int
	// keys are the ORDER BY keys, of the row keyRow: this one or, behind the last row of a page, the one before. lost says
	// that they were too long for a token.
	keys   []value.Value
	keyRow int
	lost   bool
	// skip and take are what is left of OFFSET and of TOP or LIMIT; take is negative without a bound.
	skip, take int
}

// behind reports whether a page that begins at p has left the place behind. It is for results in the order of rids.
func (p *position) behind(at position) bool {
	if p == nil {
		return false
	}
	if c := compareRIDs(at.rid, p.rid); c != 0 {
		return c < 0
	}
	return at.row < p.row
}

// next is the place after this row, whatever is there.
func (p *position) next() *position {
	n := *p
	n.row++
	return &n
}

// tokenPrefix has the version of what follows.
const tokenPrefix = "G1."

// maxKeyBytes bounds the sort keys inside a token, which travels in a header. Longer ones are looked up again.
const maxKeyBytes = 1024

// maxToken bounds what is decoded at all.
const maxToken = 16 << 10

const checksumBytes = 12

// identity is what a token is tied to: the container, the query and its parameters.
func identity(req *Request) []byte {
	id := value.AppendString(nil, req.Identity)
	id = value.AppendString(id, req.Query.String())
	for _, name := range slices.Sorted(maps.Keys(req.Parameters)) {
		id = value.AppendString(id, name)
		id = req.Parameters[name].AppendJSON(id)
	}
	id = req.Resume.appendIdentity(id)
	return id
}

func checksum(identity, payload []byte) string {
	h := sha256.New()
	h.Write(identity)
	h.Write(payload)
	return hex.EncodeToString(h.Sum(nil)[:checksumBytes])
}

// encode makes a token. Where it would be longer than limit (0 is no limit), the sort keys stay out, to be looked up again.
func (p *position) encode(identity []byte, limit int) string {
	token := p.write(identity, p.keys)
	if limit > 0 && len(token) > limit && len(p.keys) > 0 {
		token = p.write(identity, nil)
	}
	return token
}

// write gives the position as JSON in base64, and a checksum that ties it to the query.
func (p *position) write(identity []byte, sortKeys []value.Value) string {
	number := func(name string, n int) value.Member {
		return value.Member{Name: name, Value: value.FromNumber(float64(n))}
	}
	members := []value.Member{
		{Name: "a", Value: value.FromString(p.after)},
		{Name: "r", Value: value.FromString(p.rid)},
		number("n", p.row), number("o", p.keyRow), number("s", p.skip), number("t", p.take),
	}
	if len(sortKeys) > 0 {
		keys := make([]value.Value, len(sortKeys))
		for i, k := range sortKeys {
			keys[i] = value.FromArray([]value.Value{k}) // undefined is an empty array
		}
		if all := value.FromArray(keys); len(all.AppendJSON(nil)) <= maxKeyBytes {
			members = append(members, value.Member{Name: "k", Value: all})
		}
	}
	payload := value.FromObject(members).AppendJSON(nil)
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(payload) + "." + checksum(identity, payload)
}

// decodePosition reads a token back.
func decodePosition(token string, identity []byte) (*position, error) {
	invalid := &eval.Error{Message: "The continuation token is not one of this query with these parameters. " +
		"Send it back as it was received, or begin without one."}
	encoded, sum, ok := strings.Cut(strings.TrimPrefix(token, tokenPrefix), ".")
	if !ok || len(token) > maxToken || !strings.HasPrefix(token, tokenPrefix) {
		return nil, invalid
	}
	payload, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	if err != nil || sum != checksum(identity, payload) {
		return nil, invalid
	}
	// The checksum is no secret, so the content is checked as well.
	v, err := value.Parse(payload)
	if err != nil {
		return nil, invalid
	}
	p := &position{}
	p.after, _ = v.Get("a").Str()
	p.rid, _ = v.Get("r").Str()
	for name, to := range map[string]*int{"n": &p.row, "o": &p.keyRow, "s": &p.skip, "t": &p.take} {
		f, isNumber := v.Get(name).Number()
		*to = int(f)
		if !isNumber || float64(*to) != f || *to < -1 || *to < 0 && name != "t" {
			return nil, invalid
		}
	}
	keys, ok := v.Get("k").Array()
	p.lost = !ok
	for _, k := range keys {
		p.keys = append(p.keys, k.Index(0))
	}
	if !bytes.Equal(payload, v.AppendJSON(nil)) {
		return nil, invalid
	}
	return p, nil
}

// completeKeys finds the sort keys of the place at which the page begins, when the token could not carry them.
func (e *execution) completeKeys() error {
	if e.from == nil {
		return nil
	}
	if !e.from.lost && len(e.from.keys) == len(e.program.Keys()) {
		return nil
	}
	run := e.program.NewRun(e.ctx, e.env())
	for item := range e.req.Source.Items("") {
		if item.RID != e.from.rid {
			if err := context.Cause(e.ctx); err != nil {
				return err
			}
			continue
		}
		computed, err := e.compute(item.Value)
		if err != nil {
			return err
		}
		n := 0
		if err := run.Item(computed, func(r eval.Row) bool {
			if n == e.from.keyRow {
				e.from.keys = r.SortKeys()
				return false
			}
			n++
			return true
		}); err != nil {
			return err
		}
		break
	}
	if len(e.from.keys) != len(e.program.Keys()) {
		return errPlaceLost
	}
	return nil
}

var errPlaceLost = &eval.Error{Message: "The item at which this page was to begin has changed, and its sort key was too long for the " +
	"continuation token. Begin the query again."}
