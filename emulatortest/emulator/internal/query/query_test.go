package query_test

import (
	"encoding/base64"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/query"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

func noon() time.Time { return time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC) }

// rid is the resource id of the n-th item of a container.
func rid(n int) string {
	raw := []byte{0xdf, 0xab, 0x32, 0x00, 0xf5, 0xbe, 0xb8, 0xdf}
	return base64.StdEncoding.EncodeToString(binary.LittleEndian.AppendUint64(raw, uint64(n)))
}

// items numbers documents from 1, in order.
func items(t testing.TB, documents ...string) query.Slice {
	t.Helper()
	list := make(query.Slice, len(documents))
	for i, text := range documents {
		v, err := value.ParseString(text)
		if err != nil {
			t.Fatalf("bad test data %s: %v", text, err)
		}
		list[i] = query.Item{RID: rid(i + 1), Raw: []byte(text), Value: v}
	}
	return list
}

func parse(t testing.TB, text string) *sql.Query {
	t.Helper()
	q, err := sql.Parse(text)
	if err != nil {
		t.Fatalf("parsing %s: %v", text, err)
	}
	return q
}

func request(t testing.TB, text string, source query.Source) query.Request {
	t.Helper()
	return query.Request{Query: parse(t, text), Source: source, Now: noon, Identity: "container"}
}

// pages follows the continuation to the end and returns the documents of each page, joined by spaces.
func pages(t testing.TB, req query.Request) []string {
	t.Helper()
	var all []string
	for range 1000 {
		page, err := query.Run(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		documents := make([]string, len(page.Documents))
		for i, d := range page.Documents {
			documents[i] = string(d)
		}
		all = append(all, strings.Join(documents, " "))
		if page.Continuation == "" {
			return all
		}
		for _, r := range page.Continuation {
			if r <= ' ' || r > '~' {
				t.Fatalf("the token %q is not fit for a header", page.Continuation)
			}
		}
		req.Continuation = page.Continuation
	}
	t.Fatal("the query doesn't end")
	return nil
}

// whole is all documents of all pages.
func whole(t testing.TB, req query.Request) string {
	t.Helper()
	var parts []string
	for _, p := range pages(t, req) {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, " ")
}
