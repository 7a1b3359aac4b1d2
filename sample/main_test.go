package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/cosmosgrove/grove/emulatortest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sampleEnvironment keeps the sample to its embedded database wherever the tests run.
func sampleEnvironment(string) string { return "" }

func output(t *testing.T, getenv func(string) string, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := run(t.Context(), args, getenv, &out, io.Discard); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	return out.String()
}

func wantAll(t *testing.T, out string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(out, part) {
			t.Errorf("the output does not say %q:\n%s", part, out)
		}
	}
	if strings.ContainsAny(out, "\x1b\r") {
		t.Errorf("there are control characters in an output that is no terminal:\n%q", out)
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	wantAll(t, output(t, sampleEnvironment),
		"an embedded database",
		"keyed by /tenantId,/lookupType  holds LookupValue",
		"120 saved, 0 failed",
		"Note 009, Note 024, Note 039, Note 054, Note 069",
		"Note 000 to Note 024; Note 025 to Note 049",
		`refused (precondition failed); the error carries what is there now: "Final"`,
		"2 stars",
		"refused: not found",
		"refused: tenant mismatch",
		"green, red",
		"3 values",
		"6 values",
		`ownerName is "Grace"`,
		`ownerName "Amazing Grace" follows, commentCount is 1; the comment still says "Grace"`,
		"0 left",
		"together",
	)
}

func TestImport(t *testing.T) {
	t.Parallel()
	wantAll(t, output(t, sampleEnvironment, "-import", "testdata/catalog"),
		"3 products, 2 categories and 3 tags, for 2 tenants",
		"products of adventure-works", "products of fabrikam", "3 saved",
		"→ Kettles",
		"1039.90  Kettle, large",
		`61.00  Teapot, "blue"`,
		"→ 1 products", "→ 6 products",
	)
}

// A second run meets what the first one left, as on a real account.
func TestOnAnAccountThatIsThereAlready(t *testing.T) {
	t.Parallel()
	server := emulatortest.Serve(t)
	environment := func(name string) string {
		return map[string]string{"COSMOS_ENDPOINT": server.Endpoint(), "COSMOS_KEY": server.Key()}[name]
	}
	for _, want := range []string{"3 saved", "0 saved, 3 were there already"} {
		wantAll(t, output(t, environment, "-import", "testdata/catalog"), server.Endpoint(), want)
	}
	for range 2 {
		wantAll(t, output(t, environment), server.Endpoint(), "0 left")
	}
}

func TestWhatCannotRun(t *testing.T) {
	t.Parallel()
	broken := t.TempDir()
	for _, name := range []string{"productCategory.jsonl", "productTag.jsonl", "product.jsonl", "productTags.jsonl"} {
		content := "{}\n"
		if name == "product.jsonl" {
			content = "{\"id\":\"1\"}\n{\"id\":\n"
		}
		if err := os.WriteFile(filepath.Join(broken, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"a word too many", []string{"notes"}, `"notes"`},
		{"no such folder", []string{"-import", filepath.Join(broken, "none")}, "CosmicWorks"},
		{"a line that is no document", []string{"-import", broken}, "product.jsonl, line 2"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			err := run(t.Context(), tc.args, sampleEnvironment, io.Discard, io.Discard)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v", err)
			}
		})
	}
	if err := run(t.Context(), []string{"-help"}, sampleEnvironment, io.Discard, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-help: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(ended, nil, sampleEnvironment, io.Discard, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
}
