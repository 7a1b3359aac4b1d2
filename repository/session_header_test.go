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

// limits notes how long a continuation each query allows, and how long the longest was.
type limits struct {
	mu      sync.Mutex
	queries map[string]int
	longest int
}

func (l *limits) Do(req *policy.Request) (*http.Response, error) {
	header := req.Raw().Header
	if header.Get("x-ms-documentdb-query") != "" || header.Get("Content-Type") == "application/query+json" {
		l.mu.Lock()
		l.queries[header.Get("x-ms-documentdb-responsecontinuationtokenlimitinkb")]++
		l.longest = max(l.longest, len(header.Get("x-ms-continuation")))
		l.mu.Unlock()
	}
	return req.Next()
}

// What a page says of where the next one begins comes back as a header, whatever the documents are sorted by.
func TestContinuationsAreBounded(t *testing.T) {
	t.Parallel()
	seen := &limits{queries: map[string]int{}}
	e := emulatortest.New(t, emulatortest.WithPartitions(4))
	client := e.Client(repository.ClientOptions(&azcosmos.ClientOptions{ClientOptions: policy.ClientOptions{PerRetryPolicies: []policy.Policy{seen}}}))
	repo, err := repository.New[Note](newContainer(t, client, "/tenantId", "/entityType"), repository.Config{})
	must(t, err)
	acme, ctx := repo.In("acme"), t.Context()
	for i := range 9 {
		must(t, acme.Create(ctx, &Note{Title: strings.Repeat("a", 20_000) + fmt.Sprint(i)}))
	}
	sorted := repository.All().OrderBy("title")
	read := 0
	for cursor, more := "", true; more; more = cursor != "" {
		page, err := acme.Page(ctx, sorted, repository.PageOptions{Size: 2, Cursor: cursor})
		must(t, err)
		read += len(page.Items)
		cursor = page.Cursor
	}
	for _, err := range acme.Query(ctx, sorted) {
		must(t, err)
		read++
	}
	for _, err := range repo.AllTenants().Query(ctx, sorted) {
		must(t, err)
		read++
	}
	_, err = acme.Count(ctx, repository.All())
	must(t, err)
	_, err = repo.AllTenants().Sum(ctx, "count", repository.All())
	must(t, err)
	for _, err := range repository.Distinct[string](ctx, &acme.Reader, "title", repository.All()) {
		must(t, err)
	}
	if read != 27 || len(seen.queries) != 1 || seen.queries["4"] < 8 || seen.longest > 4<<10 {
		t.Errorf("%d documents; queries by limit: %v; the longest continuation has %d bytes", read, seen.queries, seen.longest)
	}
}
