package engine

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/cosmosgrove/grove/tenantitem"
)

// bulkRun names one bulk, over all the processes that work on it. The mark of
// an item, and the id of one that has none, follow from it and the item's
// place in the input, so that a run that goes on recognises what an earlier
// one has already stored.
type bulkRun struct {
	started int64 // Unix milliseconds
	seed    [8]byte
}

func newBulkRun() bulkRun {
	r := bulkRun{started: time.Now().UnixMilli()}
	rand.Read(r.seed[:]) // never fails: it ends the process instead
	return r
}

// Mark names the write of one item; see marks.go.
func (r bulkRun) Mark(index int) string {
	writer := base32.StdEncoding.EncodeToString(r.seed[:5]) // 8 characters, as a repository's own
	return writer + ":" + strconv.FormatInt(int64(index), 36)
}

// ID is a UUID of version 7, like those of tenantitem.NewID, that sorts by the
// item's place: the start of the run, the place, and the run's own bits.
func (r bulkRun) ID(index int) string {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], uint64(r.started)<<16|0x7000|uint64(index>>20)&0xfff) //nolint:gosec // a time since 1970
	binary.BigEndian.PutUint64(id[8:], 0x8000_0000_0000_0000|uint64(index&0xfffff)<<42|binary.BigEndian.Uint64(r.seed[:])>>22)
	return id.String()
}

// token is where the run is: all items before position are done with.
func (r bulkRun) token(signer cursorSigner, boundTo string, position int) string {
	return signer.Seal(boundTo, fmt.Sprintf("%d %d %x", position, r.started, r.seed))
}

func openBulkToken(signer cursorSigner, boundTo, token string) (r bulkRun, position int, err error) {
	refused := &tenantitem.InvalidError{What: "resume token", Reason: "it is not of this verb, entity type, scope and CursorKey", Hint: "resume with the same call that the receipt came from, or start again without a token"}
	text, err := signer.Open(boundTo, token)
	if err != nil {
		return r, 0, refused
	}
	fields := strings.Fields(text)
	if len(fields) != 3 {
		return r, 0, refused
	}
	var seed []byte
	position, err = strconv.Atoi(fields[0])
	started, err2 := strconv.ParseInt(fields[1], 10, 64)
	_, err3 := fmt.Sscanf(fields[2], "%x", &seed)
	if errors.Join(err, err2, err3) != nil || position < 0 || len(seed) != len(r.seed) {
		return r, 0, refused
	}
	r.started = started
	copy(r.seed[:], seed)
	return r, position, nil
}
