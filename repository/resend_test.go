package repository_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/repository"
)

// breaking is a transport that lets the first write of documents take effect and then fails with an error of the network.
type breaking struct {
	client *http.Client
	broken error

	mu     sync.Mutex
	writes int
}

func (b *breaking) Do(req *http.Request) (*http.Response, error) {
	isWrite := strings.Contains(req.URL.Path, "/docs") && req.Method != http.MethodGet && !strings.HasPrefix(req.Header.Get("Content-Type"), "application/query")
	resp, err := b.client.Do(req)
	if !isWrite || err != nil {
		return resp, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.writes++; b.writes > 1 {
		return resp, nil
	}
	return nil, errors.Join(b.broken, resp.Body.Close())
}

func brokenReads() map[string]error {
	read := func(errno syscall.Errno) error {
		return &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", errno)}
	}
	return map[string]error{
		"timed out":              read(syscall.ETIMEDOUT),
		"no route":               read(syscall.EHOSTUNREACH),
		"reset":                  read(syscall.ECONNRESET),
		"refused":                read(syscall.ECONNREFUSED),
		"going away":             errors.New("http2: Transport received Server's graceful shutdown GOAWAY"),
		"an idle connection":     errors.New("http: server closed idle connection"),
		"a malformed answer":     errors.New(`net/http: HTTP/1.x transport connection broken: malformed HTTP response "x"`),
		"the end of the answer":  io.ErrUnexpectedEOF,
		"the end":                io.EOF,
		"a name that is not one": &net.DNSError{Err: "no such host", Name: "x", IsNotFound: true},
	}
}

// counting are the writes that a second copy would change again, or that would meet their own first copy.
func counting() map[string]func(ctx context.Context, acme *repository.Scope[Note]) error {
	patch := func(edits repository.Edits) func(ctx context.Context, acme *repository.Scope[Note]) error {
		return func(ctx context.Context, acme *repository.Scope[Note]) error {
			_, err := acme.Patch(ctx, "n", edits)
			return err
		}
	}
	ten := repository.Increment("/count", 1)
	for range 9 {
		ten = ten.Set("/title", "x")
	}
	one := func() *Note {
		n := &Note{Count: 1}
		n.ID = "new"
		return n
	}
	return map[string]func(ctx context.Context, acme *repository.Scope[Note]) error{
		"Patch":                patch(repository.Increment("/count", 1)),
		"Patch without a mark": patch(ten),
		"Patch, appending":     patch(repository.Increment("/count", 1).Set("/tags/-", "x")),
		"Batch": func(ctx context.Context, acme *repository.Scope[Note]) error {
			return acme.Batch().Patch("n", repository.Increment("/count", 1)).Create(one()).Commit(ctx)
		},
		"Batch without a mark": func(ctx context.Context, acme *repository.Scope[Note]) error {
			return acme.Batch().Patch("n", ten).Commit(ctx)
		},
		"Create": func(ctx context.Context, acme *repository.Scope[Note]) error { return acme.Create(ctx, one()) },
		"SaveAll": func(ctx context.Context, acme *repository.Scope[Note]) error {
			_, err := acme.SaveAll(ctx, slices.Values([]*Note{one(), {}}), nil)
			return err
		},
		"Mutate": func(ctx context.Context, acme *repository.Scope[Note]) error {
			_, err := acme.Mutate(ctx, "n", func(n *Note) error { n.Count++; return nil })
			return err
		},
		"Upsert": func(ctx context.Context, acme *repository.Scope[Note]) error { return acme.Upsert(ctx, one()) },
	}
}

// The SDK takes some errors of the network for a request that was never sent. On a client whose first request is the write,
// and on one that is warm, a write whose answer broke off so is applied once, and is no conflict with itself.
func TestWritesWhoseConnectionBreaksHappenOnce(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it serves an account of its own")
	server := emulatortest.Serve(t, emulatortest.Calm())
	containers := newContainer(t, server.Client(repository.ClientOptions(nil)), "/tenantId", "/entityType")
	plain := newRepository(t, containers, repository.Config{})
	number := 0
	for what, broken := range brokenReads() {
		for verb, write := range counting() {
			for _, cold := range []bool{true, false} {
				if !cold && what != "reset" {
					continue // a warm client takes errors alike
				}
				number++
				tenant := fmt.Sprint("tenant", number)
				n := &Note{Title: "x", Tags: []string{"a"}}
				n.ID = "n"
				must(t, plain.In(tenant).Create(t.Context(), n))
				transport := &breaking{client: &http.Client{Transport: &http.Transport{}}, broken: broken}
				credential, err := azcosmos.NewKeyCredential(server.Key())
				must(t, err)
				client, err := azcosmos.NewClientWithKey(server.Endpoint(), credential, repository.ClientOptions(&azcosmos.ClientOptions{ClientOptions: policy.ClientOptions{Transport: transport}}))
				must(t, err)
				container, err := client.NewContainer("db", "main")
				must(t, err)
				acme := newRepository(t, container, repository.Config{}).In(tenant)
				if !cold {
					_, err := acme.Exists(t.Context(), "nothing")
					must(t, err)
				}
				err = write(t.Context(), acme)
				if err != nil && (!errors.Is(err, repository.ErrAmbiguous) || repository.IsRetryable(err)) {
					t.Errorf("%s of %s, cold %t: %v", what, verb, cold, err)
				}
				total := int64(0)
				for got, err := range plain.In(tenant).Query(t.Context(), repository.All()) {
					must(t, err)
					total += got.Count
					if len(got.Tags) > 2 {
						t.Errorf("%s of %s, cold %t: appended twice", what, verb, cold)
					}
				}
				if want := int64(1 + strings.Count(verb, "Batch")*(1-strings.Count(verb, "without"))); total != want {
					t.Errorf("%s of %s, cold %t: it counts %d, not %d; %v", what, verb, cold, total, want, err)
				}
				client.Close()
				transport.client.CloseIdleConnections()
			}
		}
	}
}

// With two write regions the SDK goes to the other one after a 503.
func TestWritesAreNotTakenToAnotherRegion(t *testing.T) {
	t.Parallel()
	for verb, write := range counting() {
		for _, cold := range []bool{true, false} {
			b := setupNotes(t, emulatortest.WithMultipleWriteRegions("West", "East"), emulatortest.Calm())
			n := &Note{Title: "x", Tags: []string{"a"}}
			n.ID = "n"
			must(t, b.acme.Create(t.Context(), n))
			container, err := b.emulator.Client(repository.ClientOptions(nil)).NewContainer(emulatortest.DatabaseID(t, b.client, "db"), "main")
			must(t, err)
			acme := newRepository(t, container, repository.Config{}).In("acme")
			if !cold {
				_, err := acme.Exists(t.Context(), "nothing")
				must(t, err)
			}
			armed := b.emulator.Fault(emulator.Answer(http.StatusServiceUnavailable, 0).AfterEffect().On(emulator.CreateItem, emulator.ReplaceItem, emulator.UpsertItem, emulator.PatchItem, emulator.TransactionalBatch))
			err = write(t.Context(), acme)
			if armed.Fired() != 1 || err != nil && !errors.Is(err, repository.ErrAmbiguous) {
				t.Errorf("%s, cold %t: %d faults, %v", verb, cold, armed.Fired(), err)
			}
			total := int64(0)
			for got, err := range b.acme.Query(t.Context(), repository.All()) {
				must(t, err)
				total += got.Count
			}
			if want := int64(1 + strings.Count(verb, "Batch")*(1-strings.Count(verb, "without"))); total != want {
				t.Errorf("%s, cold %t: it counts %d, not %d; %v", verb, cold, total, want, err)
			}
		}
	}
}
