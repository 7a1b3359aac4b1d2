package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/fx"
	"go.uber.org/fx/fxtest"
	"go.uber.org/goleak"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/registry"
)

// TestMain is the command itself when the test that starts it says so.
func TestMain(m *testing.M) {
	if os.Getenv("SHOP_TEST_MAIN") != "" {
		// A signal that comes before fx waits for one would end the process.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM)
		main()
		return
	}
	goleak.VerifyTestMain(m)
}

// bundle is the service on an account of its own.
type bundle struct {
	handler  http.Handler
	emulator *emulatortest.Emulator
	spans    *tracetest.SpanRecorder
	log      *lockedBuffer
}

func setup(t *testing.T) *bundle {
	t.Helper()
	b := &bundle{spans: tracetest.NewSpanRecorder(), log: &lockedBuffer{}}
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(b.spans))
	b.emulator = emulatortest.FX(t, fx.Options(service(slog.New(slog.NewJSONHandler(b.log, nil)), provider), fx.Populate(&b.handler)))
	return b
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// answer is what a client sees.
type answer struct {
	*httptest.ResponseRecorder
	body struct {
		ID, Name, Code, Detail string
		Cents                  int64
	}
}

// do sends a request of a tenant; ifMatch may be empty.
func (b *bundle) do(t *testing.T, tenant, method, path, body, ifMatch string) answer {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if tenant != "" {
		r.Header.Set("Authorization", "Bearer "+tenant+"-token")
	}
	if ifMatch != "" {
		r.Header.Set("If-Match", ifMatch)
	}
	a := answer{ResponseRecorder: httptest.NewRecorder()}
	b.handler.ServeHTTP(a.ResponseRecorder, r)
	if strings.HasPrefix(a.Body.String(), "{") {
		if err := json.Unmarshal(a.Body.Bytes(), &a.body); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// want does the same and checks the status.
func (b *bundle) want(t *testing.T, status int, tenant, method, path, body, ifMatch string) answer {
	t.Helper()
	a := b.do(t, tenant, method, path, body, ifMatch)
	if a.Code != status {
		t.Fatalf("%s %s of %s: %d, want %d: %s", method, path, tenant, a.Code, status, a.Body)
	}
	return a
}

func TestLifeOfAProduct(t *testing.T) {
	t.Parallel()
	b := setup(t)
	created := b.want(t, 201, "acme", "POST", "/products", `{"name":"Kettle","cents":4900,"tenantId":"globex","id":"mine"}`, "")
	path, etag := "/products/"+created.body.ID, created.Header().Get("ETag")
	if created.body.ID == "mine" || etag == "" || created.Header().Get("Request-Charge") == "0.00" {
		t.Fatalf("got %v, %s", created.Header(), created.Body)
	}
	if got := b.want(t, 200, "acme", "GET", path, "", ""); got.body.Name != "Kettle" || got.Header().Get("ETag") != etag {
		t.Errorf("got %v, %s", got.Header(), got.Body)
	}
	replaced := b.want(t, 200, "acme", "PUT", path, `{"name":"Kettle, large","cents":5900}`, etag)
	b.want(t, 412, "acme", "PUT", path, `{"name":"Kettle, small","cents":3900}`, etag)
	b.want(t, 428, "acme", "PUT", path, `{"name":"Kettle, small","cents":3900}`, "")
	patched := b.want(t, 200, "acme", "PATCH", path, `{"cents":100}`, replaced.Header().Get("ETag"))
	if patched.body.Cents != 100 || patched.body.Name != "Kettle, large" {
		t.Errorf("patched: %s", patched.Body)
	}
	b.want(t, 412, "acme", "PATCH", path, `{"cents":200}`, etag)
	b.want(t, 412, "acme", "DELETE", path, "", etag)
	b.want(t, 204, "acme", "DELETE", path, "", patched.Header().Get("ETag"))
	b.want(t, 404, "acme", "GET", path, "", "")
	b.want(t, 404, "acme", "DELETE", path, "", "*")
	if restored := b.want(t, 200, "acme", "POST", path+"/restore", "", ""); restored.body.Cents != 100 {
		t.Errorf("restored: %s", restored.Body)
	}
	b.want(t, 409, "acme", "POST", path+"/restore", "", "")
}

func TestTenantsDoNotMeet(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := "/products/" + b.want(t, 201, "acme", "POST", "/products", `{"name":"Kettle","cents":1}`, "").body.ID
	for _, method := range []string{"GET", "DELETE"} {
		b.want(t, 404, "globex", method, path, "", "*")
		b.want(t, 401, "", method, path, "", "*")
		b.want(t, 401, "nobody", method, path, "", "*")
	}
	b.want(t, 404, "globex", "PUT", path, `{"name":"Mine","cents":1}`, "*")
	b.want(t, 409, "globex", "POST", path+"/orders", "", "")
	if list := b.want(t, 200, "globex", "GET", "/products", "", ""); strings.TrimSpace(list.Body.String()) != "[]" {
		t.Errorf("the other tenant sees %s", list.Body)
	}
}

func TestOrdersKeepWhatWasTrue(t *testing.T) {
	t.Parallel()
	b := setup(t)
	product := b.want(t, 201, "acme", "POST", "/products", `{"name":"Kettle","cents":4900}`, "")
	path := "/products/" + product.body.ID
	if order := b.want(t, 201, "acme", "POST", path+"/orders", "", ""); order.body.Name != "Kettle" || order.body.Cents != 4900 {
		t.Errorf("the order is %s", order.Body)
	}
	refused := b.want(t, 409, "acme", "DELETE", path, "", "*")
	if refused.body.Code != "referenced" {
		t.Errorf("a product with orders: %s", refused.Body)
	}
	if dangling := b.want(t, 409, "acme", "POST", "/products/none/orders", "", ""); dangling.body.Code != "dangling-reference" {
		t.Errorf("an order of nothing: %s", dangling.Body)
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, name := range []string{"e", "b", "d", "a", "c"} {
		b.want(t, 201, "acme", "POST", "/products", `{"name":"`+name+`","cents":1}`, "")
	}
	names := ""
	at := &url.URL{Path: "/products", RawQuery: "size=2"}
	for pages := 0; ; pages++ {
		page := b.want(t, 200, "acme", "GET", at.String(), "", "")
		var items []struct{ Name string }
		if err := json.Unmarshal(page.Body.Bytes(), &items); err != nil || pages > 3 {
			t.Fatal(err, pages)
		}
		for _, item := range items {
			names += item.Name
		}
		link := page.Header().Get("Link")
		if link == "" {
			break
		}
		target, err := url.Parse(link[1:strings.Index(link, ">")])
		if err != nil {
			t.Fatal(err)
		}
		at = at.ResolveReference(target)
	}
	if names != "abcde" {
		t.Errorf("the pages hold %s", names)
	}
	b.want(t, 400, "acme", "GET", "/products?size=0", "", "")
	b.want(t, 400, "globex", "GET", "/products?cursor="+at.Query().Get("cursor"), "", "")
}

func TestBadRequests(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := "/products/" + b.want(t, 201, "acme", "POST", "/products", `{"name":"Kettle","cents":1}`, "").body.ID
	for _, tc := range []struct {
		method, path, body, ifMatch string
		status                      int
	}{
		{"POST", "/products", `{`, "", 400},
		{"POST", "/products", `{"name":""}`, "", 400},
		{"POST", "/products", `{"name":"x","cents":-1}`, "", 400},
		{"POST", "/products", `{"name":1}`, "", 400},
		{"PUT", path, `{"name":"x"}`, "1", 400},
		{"PATCH", path, `{"name":"x"}`, "*", 400},
		{"PATCH", path, `{"cents":-1}`, "*", 400},
		{"GET", "/products/a%3Fb", ``, "", 400},
		{"GET", "/nothing", ``, "", 404},
		{"POST", path, ``, "", 405},
	} {
		b.want(t, tc.status, "acme", tc.method, tc.path, tc.body, tc.ifMatch)
	}
}

func TestThrottled(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := "/products/" + b.want(t, 201, "acme", "POST", "/products", `{"name":"Kettle","cents":1}`, "").body.ID
	b.emulator.Fault(emulator.Throttle(31 * time.Second).On(emulator.ReadItem).Container(registry.DefaultContainer).Keep()) // longer than a verb waits at all
	refused := b.want(t, 429, "acme", "GET", path, "", "")
	if refused.Header().Get("Retry-After") != "30" {
		t.Errorf("got %v", refused.Header())
	}
}

func TestReady(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.want(t, 204, "", "GET", "/ready", "", "")
	b.emulator.Fault(emulator.Answer(http.StatusForbidden, 0).On(emulator.ReadContainer).Keep())
	b.want(t, 500, "", "GET", "/ready", "", "")
}

func TestLogAndTrace(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := "/products/" + b.want(t, 201, "acme", "POST", "/products", `{"name":"SECRET","cents":1}`, "").body.ID
	b.want(t, 404, "acme", "GET", path+"-not", "", "")
	var last struct {
		Method, Route, Tenant, Error string
		Status                       int
		RequestUnits                 float64
	}
	for line := range strings.Lines(b.log.String()) {
		if !strings.Contains(line, `"route"`) {
			continue // of the work in the background
		}
		if err := json.Unmarshal([]byte(line), &last); err != nil {
			t.Fatal(err)
		}
	}
	if last.Route != "GET /products/{id}" || last.Status != 404 || last.Tenant != "acme" || last.RequestUnits == 0 || last.Error == "" {
		t.Errorf("the last request is logged as %+v in %s", last, b.log)
	}
	if strings.Contains(b.log.String(), "SECRET") {
		t.Errorf("the log holds a document: %s", b.log)
	}
	parents := map[string]string{}
	for _, span := range b.spans.Ended() {
		parents[span.SpanContext().SpanID().String()] = span.Name()
	}
	below := false
	for _, span := range b.spans.Ended() {
		below = below || span.Name() == "Create documents" && parents[span.Parent().SpanID().String()] == "POST /products"
	}
	if !below {
		t.Errorf("no span of Create below that of its request: %v", parents)
	}
}

// anyPort lets the system choose a port that is free.
const anyPort = "127.0.0.1:0"

// addressIn is the address of a line of the log that says where the service listens; empty in another line.
func addressIn(line string) string {
	var said struct{ Msg, Address string }
	if json.Unmarshal([]byte(line), &said) != nil || said.Msg != "listening" {
		return ""
	}
	return said.Address
}

// A request that is under way when the application stops is answered.
func TestStopWaitsForRequests(t *testing.T) {
	t.Parallel()
	account, log := emulatortest.New(t), &lockedBuffer{}
	app := fxtest.New(t,
		service(slog.New(slog.NewJSONHandler(log, nil)), noop.NewTracerProvider()),
		fx.Provide(func() *azcosmos.Client { return account.Client(nil) }), serve(anyPort))
	app.RequireStart()
	address := ""
	for line := range strings.Lines(log.String()) {
		address = cmp.Or(address, addressIn(line))
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	request := func(method, path, body string) (*http.Response, error) {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+address+path, strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		r.Header.Set("Authorization", "Bearer acme-token")
		return client.Do(r)
	}
	delayed := account.Fault(emulator.Delay(300 * time.Millisecond).On(emulator.CreateItem).Container(registry.DefaultContainer)) // and no lease's
	status := make(chan int, 1)
	go func() {
		response, err := request("POST", "/products", `{"name":"Kettle","cents":1}`)
		if err != nil {
			status <- 0
			return
		}
		_ = response.Body.Close()
		status <- response.StatusCode
	}()
	for delayed.Matched() == 0 && len(status) == 0 {
		time.Sleep(time.Millisecond)
	}
	app.RequireStop()
	if got := <-status; got != http.StatusCreated {
		t.Errorf("the request was answered with %d", got)
	}
	if response, err := request("GET", "/ready", ""); err == nil {
		_ = response.Body.Close()
		t.Error("it listens after its end")
	}
}

// The program listens, and ends with 0 after a signal.
func TestProgram(t *testing.T) {
	t.Parallel()
	program := exec.CommandContext(t.Context(), os.Args[0], "-listen", anyPort)
	program.Env = []string{"SHOP_TEST_MAIN=1"}
	log, err := program.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	lines, address := bufio.NewScanner(log), ""
	for address == "" && lines.Scan() {
		address = addressIn(lines.Text())
	}
	drained := make(chan struct{})
	go func() { defer close(drained); _, _ = io.Copy(io.Discard, log) }()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get("http://" + address + "/ready")
	if err != nil || response.Body.Close() != nil || response.StatusCode != http.StatusNoContent {
		t.Errorf("the readiness is %v, %v", response, err)
	}
	for ended := false; !ended; {
		if err := program.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		select {
		case <-drained:
			ended = true
		case <-time.After(50 * time.Millisecond): // fx did not wait for signals yet
		}
	}
	if err := program.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// maxLines is what the service may take of its author: lines of code, without
// comments, imports and tests.
const maxLines = 150

func TestItIsShort(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, name := range files {
		switch {
		case strings.HasSuffix(name, "_test.go"):
			continue
		case name == "client.go": // a service of one's own has that of the tutorial
			name = "../../docs/code/testdata/tutorial/step1/client.go"
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		imports := false
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			switch {
			case line == "import (":
				imports = true
			case imports:
				imports = line != ")"
			case line != "" && !strings.HasPrefix(line, "//") && !strings.HasPrefix(line, "package "):
				count++
			}
		}
	}
	t.Logf("%d lines", count)
	if count < 50 || count >= maxLines {
		t.Errorf("the service has %d lines, which should be fewer than %d", count, maxLines)
	}
}
