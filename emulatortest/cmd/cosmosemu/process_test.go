package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// process is the command as a process of its own.
type process struct {
	t       *testing.T
	cmd     *exec.Cmd
	exports map[string]string // what it printed to be exported
	said    string            // all lines until then, behind that it is ready
	errs    *lockedBuffer
	rest    chan struct{} // closed when its output has ended
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// launch starts the command on a free port and waits until it has said all that it says when it is ready.
func launch(t *testing.T, args ...string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: exec.Command(self, append([]string{"-listen", "127.0.0.1:0"}, args...)...), exports: map[string]string{}, errs: &lockedBuffer{}, rest: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), asCommand+"=1")
	p.cmd.Stderr = p.errs
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.kill(syscall.SIGKILL) })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if !strings.HasPrefix(lines.Text(), "ready ") {
			p.said += lines.Text() + "\n"
		}
		name, text, ok := strings.Cut(strings.TrimPrefix(lines.Text(), "export "), "='")
		if ok {
			p.exports[name] = strings.TrimSuffix(text, "'")
		}
		if name == "COSMOS_CONNECTION_STRING" {
			go func() {
				defer close(p.rest)
				for lines.Scan() {
				}
			}()
			return p
		}
	}
	t.Fatalf("it ended before it was ready: %s", p.errs)
	return nil
}

// kill ends the process and gives its exit status, -1 when the signal ended it.
func (p *process) kill(signal os.Signal) int {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Signal(signal) // a process that has ended is as good
		<-p.rest
		_ = p.cmd.Wait() // the state tells
	}
	return p.cmd.ProcessState.ExitCode()
}

func (p *process) account() *account {
	p.t.Helper()
	transport := &http.Transport{}
	p.t.Cleanup(transport.CloseIdleConnections)
	a, err := newAccount(p.exports["COSMOS_ENDPOINT"], p.exports["COSMOS_KEY"], (&http.Client{Transport: transport}).Do)
	if err != nil {
		p.t.Fatal(err)
	}
	return a
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func count(t *testing.T, a *account, link, entries string) int {
	t.Helper()
	n := 0
	if err := a.each(t.Context(), link, entries, func(json.RawMessage) error { n++; return nil }); err != nil {
		t.Error(err)
	}
	return n
}

const shopInit = `{"databases": [{"id": "shop", "throughput": 1000, "containers": [
	{"id": "items", "partitionKey": {"paths": ["/tenant", "/kind"], "kind": "MultiHash"}, "defaultTtl": -1, "throughput": 400},
	{"id": "plain", "partitionKey": {"paths": ["/pk"]}}
]}]}`

func TestProcessEndsOnSIGTERM(t *testing.T) {
	t.Parallel()
	p := launch(t)
	if p.exports["COSMOS_KEY"] != emulator.DefaultKey || !strings.HasPrefix(p.exports["COSMOS_CONNECTION_STRING"], "AccountEndpoint=http://127.0.0.1:") {
		t.Errorf("exports %v", p.exports)
	}
	if err := p.account().health(t.Context()); err != nil {
		t.Error(err)
	}
	if status := p.kill(syscall.SIGTERM); status != exitOK {
		t.Errorf("exit %d: %s", status, p.errs)
	}
	if err := p.account().health(t.Context()); err == nil {
		t.Error("it answers after its end")
	}
}

// What was acknowledged is there after kill -9, and -init leaves it as it is.
func TestProcessKeepsItsDataThroughACrash(t *testing.T) {
	t.Parallel()
	data, file := t.TempDir(), write(t, filepath.Join(t.TempDir(), "shop.json"), shopInit)
	first := launch(t, "-data", data, "-init", file)
	a := first.account()
	for _, id := range []string{"1", "2", "3"} {
		body := `{"id":"` + id + `","tenant":"t","kind":"k"}`
		if _, err := a.do(t.Context(), http.MethodPost, "dbs/shop/colls/items/docs", []byte(body), "x-ms-documentdb-partitionkey", `["t","k"]`); err != nil {
			t.Fatal(err)
		}
	}
	if status := first.kill(syscall.SIGKILL); status != -1 {
		t.Errorf("exit %d", status)
	}
	second := launch(t, "-data", data, "-init", file)
	if n := count(t, second.account(), "dbs/shop/colls/items/docs", "Documents"); n != 3 {
		t.Errorf("%d items, want 3", n)
	}
	if n := count(t, second.account(), "dbs/shop/colls", "DocumentCollections"); n != 2 {
		t.Errorf("%d containers, want 2", n)
	}
	if n := count(t, second.account(), "offers", "Offers"); n != 2 {
		t.Errorf("%d offers, want that of the database and that of the container", n)
	}
}

func TestRequestsAreLogged(t *testing.T) {
	t.Parallel()
	p := launch(t, "-v", "-init", write(t, filepath.Join(t.TempDir(), "shop.json"), shopInit))
	count(t, p.account(), "dbs/shop/colls", "DocumentCollections")
	if status := p.kill(syscall.SIGTERM); status != exitOK {
		t.Errorf("exit %d", status)
	}
	said := p.errs.String()
	if !strings.Contains(said, "list containers") || !strings.Contains(said, " RU") || strings.Contains(said, "\x1b") {
		t.Errorf("said %q", said)
	}
}

func TestProcessSaysWhyItCannotBegin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, c := range []struct {
		name string
		args []string
		exit int
		says string
	}{
		{"init file that is missing", []string{"-init", filepath.Join(dir, "none")}, exitFailure, "no such file"},
		{"init file with a misspelt name", []string{"-init", write(t, filepath.Join(dir, "a.json"), `{"database":[]}`)}, exitFailure, `unknown field "database"`},
		{"container that can't be", []string{"-init", write(t, filepath.Join(dir, "b.json"), `{"databases":[{"id":"d","containers":[{"id":"c","partitionKey":{"paths":["x"]}}]}]}`)}, exitFailure, "400: "},
		{"seed that is missing", []string{"-seed", filepath.Join(dir, "none")}, exitFailure, "no such file"},
		{"export without a folder", []string{"export"}, exitUsage, "takes 1 argument(s) FOLDER"},
		{"health with an argument", []string{"health", "x"}, exitUsage, "takes 0"},
		{"unknown flag of a command", []string{"import", "-nothing", dir}, exitUsage, "-nothing"},
		{"help of a command", []string{"import", "-help"}, exitOK, "reads such a folder"},
		{"nobody there", []string{"health", "-endpoint", "http://127.0.0.1:1/"}, exitFailure, "refused"},
		{"key that is none", []string{"export", "-key", "?", dir}, exitFailure, "not base64"},
		{"endpoint that is none", []string{"export", "-endpoint", "here", dir}, exitFailure, "no URL"},
		{"authority that is none", []string{"health", "-ca", write(t, filepath.Join(dir, "ca.pem"), "x")}, exitFailure, "holds no certificate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out, errs strings.Builder
			args := c.args
			if strings.HasPrefix(args[0], "-") {
				args = append([]string{"-listen", "127.0.0.1:0"}, args...)
			}
			if exit := run(t.Context(), args, &out, &errs); exit != c.exit || !strings.Contains(errs.String(), c.says) {
				t.Errorf("exit %d, said %q; want exit %d and %q", exit, errs.String(), c.exit, c.says)
			}
		})
	}
}
