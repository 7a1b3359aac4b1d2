package repository_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
)

// comparison is one work, done by a repository and by hand over the raw SDK.
type comparison struct {
	name          string
	each          int // how often it is done in one measurement
	grove, byHand func(ctx context.Context) error
}

// BenchmarkComparedWithTheSDK does the same work with a repository and with the raw
// SDK and encoding/json, in turns over the same stub, and reports the
// processor time of both, their ratio, and the ratio of what they allocate.
// Of all turns the best counts, since a shared machine can only slow one down.
//
//	go test ./repository -run '^$' -bench ComparedWithTheSDK -benchtime 12x
func BenchmarkComparedWithTheSDK(b *testing.B) {
	s := newStub(1000)
	for _, c := range comparisons(b, s, productsOver(b, s.container(b, repository.ClientOptions(nil)))) {
		b.Run(c.name, func(b *testing.B) {
			ours, theirs := new(measured), new(measured)
			for range b.N {
				ours.best(b, c.each, c.grove)
				theirs.best(b, c.each, c.byHand)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(ours.micros, "grove-µs")
			b.ReportMetric(theirs.micros, "sdk-µs")
			b.ReportMetric(ours.micros/theirs.micros, "time-ratio")
			b.ReportMetric(ours.allocations, "grove-allocs")
			b.ReportMetric(theirs.allocations, "sdk-allocs")
			b.ReportMetric(ours.bytes/theirs.bytes, "bytes-ratio")
		})
	}
}

// measured is the best measurement of one arm so far, for each time the work
// was done.
type measured struct{ micros, allocations, bytes float64 }

func (m *measured) best(b *testing.B, n int, work func(ctx context.Context) error) {
	b.Helper()
	var before, after runtime.MemStats
	runtime.GC() // the other arm's garbage is not this one's
	runtime.ReadMemStats(&before)
	began := processorTime(b)
	for range n {
		if err := work(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	took := processorTime(b) - began
	runtime.ReadMemStats(&after)
	micros := float64(took) / float64(time.Microsecond) / float64(n)
	if m.micros == 0 || micros < m.micros {
		m.micros = micros
	}
	m.allocations = float64(after.Mallocs-before.Mallocs) / float64(n)
	m.bytes = float64(after.TotalAlloc-before.TotalAlloc) / float64(n)
}

const manyProducts = 10_000

// comparisons are the works whose ratios docs/performance.md states.
func comparisons(b testing.TB, s *stub, acme *repository.Scope[Product]) []comparison {
	b.Helper()
	container := s.container(b, nil)
	key := productKey()
	one := newProducts(1)[0]
	hundred := newProducts(engine.MaxBatchOperations)
	many := sync.OnceValue(func() []*Product { return newProducts(manyProducts) })
	const etag = `"0000d826-0000-0700-0000-000000000000"`
	full := azcosmos.ItemOptions{EnableContentResponseOnWrite: true}
	return []comparison{
		{"Create", 1000,
			func(ctx context.Context) error { p := *one; return acme.Create(ctx, &p) },
			func(ctx context.Context) error {
				p := *one
				return byHand(&p, func(body []byte) (azcosmos.ItemResponse, error) { return container.CreateItem(ctx, key, body, nil) })
			}},
		{"Save", 1000,
			func(ctx context.Context) error { p := *one; p.ETag = etag; return acme.Save(ctx, &p) },
			func(ctx context.Context) error {
				p := *one
				p.ETag = etag
				return byHand(&p, func(body []byte) (azcosmos.ItemResponse, error) {
					match := azcore.ETag(p.ETag)
					return container.ReplaceItem(ctx, key, p.ID, body, &azcosmos.ItemOptions{IfMatchEtag: &match})
				})
			}},
		{"Upsert", 1000,
			func(ctx context.Context) error { p := *one; return acme.Upsert(ctx, &p) },
			func(ctx context.Context) error {
				p := *one
				return byHand(&p, func(body []byte) (azcosmos.ItemResponse, error) { return container.UpsertItem(ctx, key, body, nil) })
			}},
		{"Patch", 1000,
			func(ctx context.Context) error {
				_, err := acme.Patch(ctx, stubID, repository.Set("/name", "Road-1 frame").Increment("/stock", 2))
				return err
			},
			func(ctx context.Context) error {
				var ops azcosmos.PatchOperations
				ops.AppendSet("/name", "Road-1 frame")
				ops.AppendIncrement("/stock", 2)
				answer, err := container.PatchItem(ctx, key, stubID, ops, &full)
				if err != nil {
					return err
				}
				var p Product
				return json.Unmarshal(answer.Value, &p)
			}},
		{"Batch100", 30,
			func(ctx context.Context) error {
				batch := acme.Batch()
				for _, p := range hundred {
					batch.Create(p)
				}
				return batch.Commit(ctx)
			},
			func(ctx context.Context) error { return batchByHand(ctx, container, hundred) }},
		{"SaveAll10000", 1,
			func(ctx context.Context) error {
				for _, p := range many() {
					p.ETag = ""
				}
				receipt, err := acme.SaveAll(ctx, slices.Values(many()), nil)
				if err == nil && receipt.Succeeded != manyProducts {
					err = fmt.Errorf("%d of %d stored", receipt.Succeeded, manyProducts)
				}
				return err
			},
			func(ctx context.Context) error {
				for part := range slices.Chunk(many(), engine.MaxBatchOperations) {
					if err := batchByHand(ctx, container, part); err != nil {
						return err
					}
				}
				return nil
			}},
		{"Get", 1000,
			func(ctx context.Context) error { _, err := acme.Get(ctx, stubID); return err },
			func(ctx context.Context) error { _, err := readWithSDK(ctx, container); return err }},
		{"Query1000", 10,
			func(ctx context.Context) error {
				n := 0
				for _, err := range acme.Query(ctx, repository.All()) {
					if err != nil {
						return err
					}
					n++
				}
				if n != 1000 {
					return fmt.Errorf("%d rows", n)
				}
				return nil
			},
			func(ctx context.Context) error { _, err := queryWithSDK(ctx, container); return err }},
	}
}

// newProducts are n products that were not stored yet.
func newProducts(n int) []*Product {
	all := make([]*Product, n)
	for i := range all {
		var p Product
		if err := json.Unmarshal(productJSON(i), &p); err != nil {
			panic(err)
		}
		p.ETag, p.TS = "", 0
		all[i] = &p
	}
	return all
}

func byHand(p *Product, write func(body []byte) (azcosmos.ItemResponse, error)) error {
	body, err := json.Marshal(p)
	if err != nil {
		return err
	}
	answer, err := write(body)
	if err != nil {
		return err
	}
	p.ETag = string(answer.ETag)
	return nil
}

func batchByHand(ctx context.Context, container *azcosmos.ContainerClient, products []*Product) error {
	batch := container.NewTransactionalBatch(productKey())
	for _, p := range products {
		body, err := json.Marshal(p)
		if err != nil {
			return err
		}
		batch.CreateItem(body, nil)
	}
	answer, err := container.ExecuteTransactionalBatch(ctx, batch, nil)
	if err != nil {
		return err
	}
	if !answer.Success || len(answer.OperationResults) != len(products) {
		return fmt.Errorf("%d results", len(answer.OperationResults))
	}
	for i, p := range products {
		p.ETag = string(answer.OperationResults[i].ETag)
	}
	return nil
}

// answerWrite is the service's answer to a write: without the document unless
// it was asked for, and to a batch one result for each operation.
func (s *stub) answerWrite(req *http.Request) (status int, body []byte) {
	switch {
	case req.Header.Get("x-ms-cosmos-is-batch-request") != "":
		sent, err := io.ReadAll(req.Body)
		if err != nil {
			panic(err)
		}
		return http.StatusOK, s.batchResults(bytes.Count(sent, []byte(`"operationType":`)))
	case !strings.EqualFold(req.Header.Get("Prefer"), "return=minimal"):
		return http.StatusOK, s.document
	case req.Method == http.MethodPost:
		return http.StatusCreated, nil
	}
	return http.StatusOK, nil
}

// batchResults answers a batch of n operations.
func (s *stub) batchResults(n int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if body, made := s.results[n]; made {
		return body
	}
	b := []byte{'['}
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `{"statusCode":201,"eTag":"\"0000d826-0000-0700-0000-%012d\"","requestCharge":10.67}`, i)
	}
	if s.results == nil {
		s.results = map[int][]byte{}
	}
	s.results[n] = append(b, ']')
	return s.results[n]
}

// header is what every answer carries, as the service sends it.
func header(length int) http.Header {
	return http.Header{
		"Content-Type": {"application/json"}, "X-Ms-Request-Charge": {"1.00"}, "X-Ms-Session-Token": {"0:-1#12"},
		"X-Ms-Activity-Id": {"0199a0b1-7a2b-7000-8000-000000000000"}, "Etag": {`"0000d826-0000-0700-0000-000000000000"`},
		"Content-Length": {strconv.Itoa(length)},
	}
}
