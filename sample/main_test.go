package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"go.uber.org/goleak"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/sample/internal/report"
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

func TestTour(t *testing.T) {
	t.Parallel()
	out := output(t, sampleEnvironment)
	wantAll(t, out,
		"an embedded account",
		"lookups, keyed by /tenantId,/lookupType: LookupValue",
		"Request units (RU) are modelled here",
		"120 saved, 0 failed",
		"Note 009, Note 024, Note 039, Note 054, Note 069",
		"Note 000 to Note 024; Note 025 to Note 049",
		`✗ precondition failed: the error carries what is there now, "Final"`,
		"2 stars",
		"✗ not found",
		"✗ tenant mismatch",
		"green, red",
		"3 values",
		"6 values",
		"embed:", "child:", "reference:", "snapshot:", "synced copy:", "count:", "recent:", "bucket:", "many-to-many:",
		"5 lines", "all are gone", "25 notes of 5 people", "122500 cents", "25 notes follow", "20 comments", "comment 20, comment 19, comment 18", "100 messages", "5 books",
		"go run ./sample/shop",
	)
	if strings.Contains(out, "…") {
		t.Errorf("a title is cut:\n%s", out)
	}
}

// What is printed fits a terminal of 80 columns, and what looks like a sum is one.
func TestSumsAndWidth(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"-import", "testdata/catalog"}} {
		out := output(t, sampleEnvironment, args...)
		var rows, rest, together [2]int64
		add := func(into *[2]int64, fields ...string) {
			for i := 0; i < len(fields); i += 2 {
				into[0] += hundredths(t, fields[i]) / 100
				into[1] += hundredths(t, fields[i+1])
			}
		}
		steps := 0
		for line := range strings.Lines(out) {
			line = strings.TrimRight(line, "\n")
			if utf8.RuneCountInString(line) > report.Width {
				t.Errorf("wider than %d columns: %s", report.Width, line)
			}
			fields := strings.Fields(line)
			switch n := len(fields); {
			case strings.HasPrefix(line, "    the rows above"):
				var said [2]int64
				add(&said, fields[n-2:]...)
				if said != rows {
					t.Errorf("the rows are said to be %v, and are %v", said, rows)
				}
			case strings.HasPrefix(line, "    start"):
				add(&rest, fields[n-2:]...)
			case strings.HasPrefix(line, "    together"):
				add(&together, fields[n-2:]...)
			case patternRow.MatchString(line):
				steps++
				add(&rows, fields[n-4:]...)
			case stepRow.MatchString(line):
				steps++
				add(&rows, fields[n-2:]...)
			}
		}
		if steps < 10 || rest[0] <= 0 || rest[1] < 0 || together != [2]int64{rows[0] + rest[0], rows[1] + rest[1]} {
			t.Errorf("%d rows of %v, a rest of %v, and together %v:\n%s", steps, rows, rest, together, out)
		}
	}
}

var (
	stepRow    = regexp.MustCompile(`^ *\d+ \S.* \d+ +\d+\.\d\d$`)
	patternRow = regexp.MustCompile(`^ *\d+ \S.* \d+ +\d+\.\d\d +\d+ +\d+\.\d\d$`)
)

// hundredths reads a figure of a table.
func hundredths(t *testing.T, figure string) int64 {
	t.Helper()
	whole, part, _ := strings.Cut(figure, ".")
	n, err := strconv.ParseInt(whole+(part + "00")[:2], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A query of one tenant is not dearer than one of all, though it may be the
// first that asks how the container is laid out.
func TestPrefixIsNotDearerThanAllTenants(t *testing.T) {
	t.Parallel()
	out := output(t, sampleEnvironment)
	cost := func(title string) (requests, units int64) {
		for line := range strings.Lines(out) {
			if fields := strings.Fields(line); strings.Contains(line, title) {
				return hundredths(t, fields[len(fields)-2]), hundredths(t, fields[len(fields)-1])
			}
		}
		t.Fatalf("no row %q", title)
		return 0, 0
	}
	requests, units := cost("by a prefix")
	allRequests, allUnits := cost("only by this name")
	if requests > allRequests || units > allUnits {
		t.Errorf("a prefix costs %d requests and %d, all tenants %d and %d", requests, units, allRequests, allUnits)
	}
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
		"The WebStore's three containers", "customer-03@example.com and 10 orders", "10, 10, 9, 9, 8, 7, 7, 6, 6, 5 orders",
		"Kettle, small (Kettles; steel)", "Kettles (renamed)", "2 products, 2 names of tags, which the WebStore has",
	)
}

// serving is an environment that names an emulator behind an address, and a
// client of it.
func serving(t *testing.T) (environment func(string) string, databases func() []string) {
	t.Helper()
	server := emulatortest.Serve(t)
	client := server.Client(nil)
	environment = func(name string) string {
		return map[string]string{"COSMOS_ENDPOINT": server.Endpoint(), "COSMOS_KEY": server.Key()}[name]
	}
	return environment, func() []string {
		var ids []string
		for pager := client.NewQueryDatabasesPager("SELECT * FROM c", nil); pager.More(); {
			page, err := pager.NextPage(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range page.Databases {
				ids = append(ids, d.ID)
			}
		}
		return ids
	}
}

// On an account that stays, a second import meets the first one's documents,
// and the tour meets nothing and leaves nothing.
func TestOnAnAccountThatIsThereAlready(t *testing.T) {
	t.Parallel()
	environment, databases := serving(t)
	for range 2 {
		out := output(t, environment)
		wantAll(t, out, environment("COSMOS_ENDPOINT"), "an emulator's are modelled")
		if strings.Count(out, "Note 009") != 2 { // in a list, and read by its id
			t.Errorf("notes are printed twice:\n%s", out)
		}
		if left := databases(); len(left) != 0 {
			t.Errorf("the tour leaves %v behind", left)
		}
	}
	for _, want := range []string{"3 saved", "0 saved, 3 were there already"} {
		wantAll(t, output(t, environment, "-import", "testdata/catalog"), environment("COSMOS_ENDPOINT"), want)
	}
	if left := databases(); !slices.Equal(left, []string{"grove-sample"}) {
		t.Errorf("the catalogue is in %v", left)
	}
}

// endAt ends a context when a text is printed.
type endAt struct {
	text string
	end  context.CancelFunc
}

func (w *endAt) Write(p []byte) (int, error) {
	if strings.Contains(string(p), w.text) {
		w.end()
	}
	return len(p), nil
}

func TestInterruptedTourLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	environment, databases := serving(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := run(ctx, nil, environment, &endAt{"Two writers", cancel}, io.Discard)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
	if left := databases(); len(left) != 0 {
		t.Errorf("it leaves %v behind", left)
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
