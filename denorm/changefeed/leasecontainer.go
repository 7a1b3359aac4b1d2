package changefeed

import (
	"context"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/cosmosgrove/grove/internal/cosmos"
)

// leaseContainer is the container of the leases and the quarantine. Its reads
// ask for a replica that has come as far as this process's own requests, the
// refused ones among them: what a write was refused for is there for the read
// that follows it, and what was put into quarantine is found there.
type leaseContainer struct {
	container *cosmos.Container

	mu   sync.Mutex
	seen sessionParts
}

// read reads a document, whose partition key is its id.
func (c *leaseContainer) read(ctx context.Context, id string) (body []byte, err error) {
	for try := 0; ; try++ {
		options := cosmos.Options{Session: c.token()}
		item, answer, err := cosmos.ReadItem(ctx, c.container, cosmos.StringKey(id), id, options)
		c.note(answer.Header)
		if options.Session == nil || !c.waitsFor(ctx, err, try) {
			return item.Body, err
		}
	}
}

// write sends one write.
func (c *leaseContainer) write(ctx context.Context, op cosmos.Operation) (azcore.ETag, error) {
	item, answer, err := cosmos.Write(ctx, c.container, cosmos.StringKey(op.ID), op, cosmos.Options{})
	c.note(answer.Header)
	c.note(headerOf(err))
	return azcore.ETag(item.ETag), err
}

// query yields the documents that a query finds.
func (c *leaseContainer) query(ctx context.Context, text string, parameters ...cosmos.QueryParameter) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		yielded := false
		for try := 0; ; try++ {
			options := cosmos.Options{Session: c.token()}
			var behind error
			for item, err := range cosmos.QueryAll(ctx, c.container, options, text, parameters...) {
				if err != nil && !yielded && options.Session != nil {
					behind = err
					break
				}
				yielded = true
				if !yield(item, err) {
					return
				}
			}
			if behind == nil {
				return
			}
			if !c.waitsFor(ctx, behind, try) {
				yield(nil, behind)
				return
			}
		}
	}
}

// waitsFor waits for replicas that are behind. Where none comes as far, as in
// a container that was made anew under its name, what was seen is forgotten.
func (c *leaseContainer) waitsFor(ctx context.Context, err error, try int) bool {
	if !isBehind(err) || !wait(ctx, retryWithPause) {
		return false
	}
	if try >= maxTries {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.seen = nil
	}
	return true
}

// token is the header of a read; nil is none.
func (c *leaseContainer) token() *string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.seen) == 0 {
		return nil
	}
	parts := make([]string, 0, len(c.seen))
	for _, id := range slices.Sorted(maps.Keys(c.seen)) {
		parts = append(parts, id+":"+c.seen[id].text)
	}
	joined := strings.Join(parts, ",")
	return &joined
}

func (c *leaseContainer) note(h http.Header) {
	if token := h.Get(headerSession); token != "" {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.seen == nil {
			c.seen = sessionParts{}
		}
		c.seen.merge(parseSession(token))
	}
}
