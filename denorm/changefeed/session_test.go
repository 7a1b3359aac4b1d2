package changefeed_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// session is how far the clients of a test have seen each container. The test's own reads hand it over, so that they show what was
// there when they were sent; the processors' requests are left as they are.
type session struct {
	mu    sync.Mutex
	parts map[string]map[string]string // by the container's path and the partition's id
}

// over is a transport whose answers are noted.
func (s *session) over(next policy.Transporter) policy.Transporter {
	return transport(func(r *http.Request) (*http.Response, error) {
		resp, err := next.Do(r)
		if err == nil {
			s.note(r.URL.Path, resp.Header.Get("x-ms-session-token"))
		}
		return resp, err
	})
}

func (s *session) note(path, token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	container, _, ok := strings.Cut(path, "/docs")
	if !ok {
		return
	}
	for part := range strings.SplitSeq(token, ",") {
		id, progress, ok := strings.Cut(part, ":")
		if !ok {
			continue
		}
		if s.parts == nil {
			s.parts = map[string]map[string]string{}
		}
		if s.parts[container] == nil {
			s.parts[container] = map[string]string{}
		}
		if have := s.parts[container][id]; have == "" || isFurther(progress, have) {
			s.parts[container][id] = progress
		}
	}
}

// isFurther compares two of the form version#lsn.
func isFurther(a, b string) bool {
	var version, lsn, otherVersion, otherLSN int64
	_, err := fmt.Sscanf(a, "%d#%d", &version, &lsn)
	_, err2 := fmt.Sscanf(b, "%d#%d", &otherVersion, &otherLSN)
	if err := errors.Join(err, err2); err != nil {
		panic(err)
	}
	return version > otherVersion || version == otherVersion && lsn > otherLSN
}

// joined is the token of all partitions of a container; empty before the first answer.
func (s *session) joined(container *azcosmos.ContainerClient) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var parts []string
	known := s.parts["/dbs/"+database+"/colls/"+container.ID()]
	for _, id := range slices.Sorted(maps.Keys(known)) {
		parts = append(parts, id+":"+known[id])
	}
	return strings.Join(parts, ",")
}

// token is joined as options take it.
func (s *session) token(container *azcosmos.ContainerClient) *string {
	if joined := s.joined(container); joined != "" {
		return &joined
	}
	return nil
}

// isBehind says that the replica which was asked lacks what the session has seen.
func isBehind(err error) bool {
	var answer *azcore.ResponseError
	return errors.As(err, &answer) && answer.StatusCode == http.StatusNotFound && answer.RawResponse.Header.Get("x-ms-substatus") == "1002"
}

// find reads all documents that a query finds.
func (b *testBundle) find(container *azcosmos.ContainerClient, sql string, parameters ...azcosmos.QueryParameter) [][]byte {
	b.t.Helper()
	for {
		out, err := b.findOnce(container, sql, parameters)
		if isBehind(err) {
			continue
		}
		if err != nil {
			b.t.Fatal(err)
		}
		return out
	}
}

func (b *testBundle) findOnce(container *azcosmos.ContainerClient, sql string, parameters []azcosmos.QueryParameter) (out [][]byte, err error) {
	pager := container.NewQueryItemsPager(sql, azcosmos.NewPartitionKey(), &azcosmos.QueryOptions{QueryParameters: parameters, SessionToken: b.session.token(container)})
	for pager.More() {
		page, err := pager.NextPage(b.t.Context())
		if err != nil {
			return nil, err
		}
		out = append(out, page.Items...)
	}
	return out, nil
}

// write sends a write again for as long as the service answers 449, which the SDK leaves to its caller.
func (b *testBundle) write(send func(ctx context.Context) error) {
	b.t.Helper()
	for {
		err := send(context.WithoutCancel(b.t.Context()))
		if isRetryWith(err) {
			continue
		}
		if err != nil {
			b.t.Fatal(err)
		}
		return
	}
}
