package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/registry"
)

// asClient makes the test binary a program that connects to the account of its environment, and tries for so long.
const asClient = "COSMOSEMU_TEST_CLIENT"

// connect gives the exit status of such a program.
func connect() int {
	patience, err := time.ParseDuration(os.Getenv(asClient))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	client, err := registry.NewClient(context.Background(), registry.ClientConfig{ReadyTimeout: patience})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	client.Close()
	return 0
}

// Whoever pastes the lines into a shell, and starts a program there, is connected.
func TestPrintedLinesConnectAClient(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell:", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		args  []string
		works bool
	}{
		{"plain HTTP", nil, true},
		{"a key of one's own", []string{"-key", "c2VjcmV0"}, true},
		{"HTTPS", []string{"-tls", "-ca-out", filepath.Join(t.TempDir(), "it's ca.pem")}, runtime.GOOS == "linux"},
		{"HTTPS without the certificate", []string{"-tls"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := launch(t, c.args...)
			program := exec.CommandContext(t.Context(), shell, "-c", p.said+`exec "$0"`, self)
			patience := 2 * time.Minute
			if !c.works {
				patience = 2 * time.Second
			}
			program.Env = []string{asClient + "=" + patience.String(), "HOME=" + t.TempDir()}
			out, err := program.CombinedOutput()
			if (err == nil) != c.works {
				t.Errorf("%v: %s\nafter\n%s", err, out, p.said)
			}
			if !c.works && runtime.GOOS == "linux" && !strings.Contains(p.said, "-ca-out FILE") {
				t.Errorf("it does not say what is missing:\n%s", p.said)
			}
		})
	}
}
