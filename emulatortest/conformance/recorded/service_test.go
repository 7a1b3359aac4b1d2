package recorded

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// records reads a file of records, one JSON value a line, and skips the test where the folder is missing.
func records[T any](t *testing.T, name string) []T {
	t.Helper()
	folder := os.Getenv("COSMOS_RECORDED")
	if folder == "" {
		folder = filepath.Join("..", "..", "..", "..", "shared", "data", "service-truth")
	}
	text, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Skipf("no records of the service's answers here: %v", err)
	}
	var all []T
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var record T
		if err := json.Unmarshal(lines.Bytes(), &record); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, record)
	}
	if len(all) == 0 {
		t.Fatalf("%s is empty", name)
	}
	return all
}

// service is an emulated account that is spoken to in plain requests, as no SDK for Go asks for query plans.
type service struct{ *emulator.Service }

func newService(t *testing.T, partitions int) service {
	t.Helper()
	s, err := emulator.New(emulator.Options{Partitions: partitions})
	if err != nil {
		t.Fatal(err)
	}
	return service{s}
}

// answer is a reply; its body is kept as it came.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// do sends a signed request; headers are pairs of name and value.
func (s service) do(t *testing.T, method, path, body string, headers ...string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://emulator.test"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	date := time.Now().UTC().Format(http.TimeFormat)
	r.Header.Set("x-ms-date", date)
	r.Header.Set("x-ms-version", "2020-07-15")
	r.Header.Set("authorization", s.signature(t, method, path, date))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	reply, err := s.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reply.Body.Close() }()
	got, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{reply.StatusCode, reply.Header, got}
}

func (s service) signature(t *testing.T, method, path, date string) string {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(s.Key())
	if err != nil {
		t.Fatal(err)
	}
	segments := strings.Split(strings.Trim(path, "/"), "/")
	kind, link := segments[len(segments)-1], strings.Join(segments[:len(segments)-1], "/")
	if len(segments)%2 == 0 {
		kind, link = segments[len(segments)-2], strings.Join(segments, "/")
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s\n%s\n%s\n%s\n\n", strings.ToLower(method), kind, link, strings.ToLower(date))
	return url.QueryEscape("type=master&ver=1.0&sig=" + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}

// container makes a container and returns its path; more is further members of its definition.
func (s service) container(t *testing.T, id string, paths []string, more map[string]any) string {
	t.Helper()
	kind := "Hash"
	if len(paths) > 1 {
		kind = "MultiHash"
	}
	definition := map[string]any{"id": id, "partitionKey": map[string]any{"paths": paths, "kind": kind, "version": 2}}
	for name, v := range more {
		definition[name] = v
	}
	if a := s.do(t, http.MethodPost, "/dbs", `{"id":"db"}`); a.status != http.StatusCreated && a.status != http.StatusConflict {
		t.Fatalf("create the database: %d %s", a.status, a.body)
	}
	if a := s.do(t, http.MethodPost, "/dbs/db/colls", encode(t, definition)); a.status != http.StatusCreated {
		t.Fatalf("create the container: %d %s", a.status, a.body)
	}
	return "/dbs/db/colls/" + id
}

// create stores a document, whose partition key is the member named key.
func (s service) create(t *testing.T, container, key string, document json.RawMessage) {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(document, &members); err != nil {
		t.Fatal(err)
	}
	value, ok := members[key]
	if !ok {
		value = json.RawMessage("{}")
	}
	header := "[" + string(value) + "]"
	if a := s.do(t, http.MethodPost, container+"/docs", string(document), "x-ms-documentdb-partitionkey", header); a.status != http.StatusCreated {
		t.Fatalf("create a document: %d %s", a.status, a.body)
	}
}

// parameter is a value that goes with a query.
type parameter struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

func queryBody(t *testing.T, text string, parameters []parameter) string {
	t.Helper()
	if parameters == nil {
		parameters = []parameter{}
	}
	return encode(t, map[string]any{"query": text, "parameters": parameters})
}

// features are those that the recorded plan requests named.
const features = "Aggregate, CompositeAggregate, CountIf, DCount, Distinct, GroupBy, HybridSearch, ListAndSetAggregate, " +
	"MultipleAggregates, MultipleOrderBy, NonStreamingOrderBy, NonValueAggregate, OffsetAndLimit, OrderBy, Top, WeightedRankFusion"

func (s service) plan(t *testing.T, container, text string, parameters []parameter) answer {
	t.Helper()
	return s.do(t, http.MethodPost, container+"/docs", queryBody(t, text, parameters),
		"content-type", "application/query+json",
		"x-ms-cosmos-is-query-plan-request", "True",
		"x-ms-documentdb-isquery", "True",
		"x-ms-documentdb-query-enablecrosspartition", "True",
		"x-ms-cosmos-supported-query-features", features)
}

// rows reads all pages of a query within one physical partition.
func (s service) rows(t *testing.T, container, rangeID, body string, headers ...string) []json.RawMessage {
	t.Helper()
	var all []json.RawMessage
	continuation := ""
	for {
		headers := append([]string{
			"content-type", "application/query+json", "x-ms-documentdb-isquery", "True",
			"x-ms-documentdb-query-enablecrosspartition", "True", "x-ms-documentdb-partitionkeyrangeid", rangeID,
			"x-ms-max-item-count", "1000",
		}, headers...)
		if continuation != "" {
			headers = append(headers, "x-ms-continuation", continuation)
		}
		a := s.do(t, http.MethodPost, container+"/docs", body, headers...)
		if a.status != http.StatusOK {
			t.Fatalf("%s: %d %s", body, a.status, a.body)
		}
		var page struct{ Documents []json.RawMessage }
		if err := json.Unmarshal(a.body, &page); err != nil {
			t.Fatal(err)
		}
		all = append(all, page.Documents...)
		if continuation = a.header.Get("x-ms-continuation"); continuation == "" {
			return all
		}
	}
}

func encode(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
