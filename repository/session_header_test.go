package repository_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
)

// tokens notes the session tokens of requests for documents.
type tokens struct {
	mu   sync.Mutex
	sent []string
}

func (s *tokens) Do(req *policy.Request) (*http.Response, error) {
	if strings.Contains(req.Raw().URL.Path, "/docs") {
		s.mu.Lock()
		s.sent = append(s.sent, req.Raw().Header.Get("x-ms-session-token"))
		s.mu.Unlock()
	}
	return req.Next()
}

func (s *tokens) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.sent
	s.sent = nil
	return out
}

// Once it was seen where documents lie, a request names that partition alone.
func TestARequestNamesItsOwnPartitionAlone(t *testing.T) {
	t.Parallel()
	seen := &tokens{}
	e := emulatortest.New(t, emulatortest.WithPartitions(8), emulatortest.Calm()) // its requests are counted, and partitions that a split made are seen only later
	client := e.Client(repository.ClientOptions(&azcosmos.ClientOptions{ClientOptions: policy.ClientOptions{PerRetryPolicies: []policy.Policy{seen}}}))
	container := newContainer(t, client, "/tenantId", "/entityType")
	repo, err := repository.New[Note](container, repository.Config{})
	must(t, err)
	ctx := t.Context()
	notes := map[string]*Note{}
	for i := range 40 {
		tenant := fmt.Sprint("tenant", i)
		notes[tenant] = &Note{Title: tenant}
		must(t, repo.In(tenant).Create(ctx, notes[tenant]))
	}
	for tenant, n := range notes { // by now it is known that there are several
		_, err := repo.In(tenant).Get(ctx, n.ID)
		must(t, err)
	}
	seen.take()
	for tenant, n := range notes {
		_, err := repo.In(tenant).Get(ctx, n.ID)
		must(t, err)
		_, err = repo.In(tenant).First(ctx, repository.Where(repository.Eq("title", tenant)))
		must(t, err)
		must(t, repo.In(tenant).Batch().Create(&Note{Title: tenant}).Create(&Note{Title: tenant}).Commit(ctx))
	}
	sent := seen.take()
	for _, token := range sent {
		if token == "" || strings.Contains(token, ",") {
			t.Fatalf("a request carries %q", token)
		}
	}
	if len(sent) != 3*len(notes) {
		t.Errorf("%d requests", len(sent))
	}
}
