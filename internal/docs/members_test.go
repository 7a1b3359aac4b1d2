package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/internal/document"
)

// docs/members.md has a row for each member that Grove adds to documents, and says of it what the code does.
func TestTheTableOfMembersIsThatOfTheCode(t *testing.T) {
	t.Parallel()
	page := filepath.Join(top, "docs", "members.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, _, ok := strings.Cut(string(text), "|---|---|---|---|---|\n")
	if !ok {
		t.Fatal("the page has no table")
	}
	var want strings.Builder
	want.WriteString(head + "|---|---|---|---|---|\n")
	for _, m := range document.Members() {
		fmt.Fprintf(&want, "| `%s` | %s | %s | %s | %s |\n", m.Name, m.Holds, m.Written, m.Read, m.Removed)
	}
	if string(text) == want.String() {
		return
	}
	if !*update {
		t.Fatal("the table is not what internal/document says: run go test ./internal/docs -update")
	}
	if err := os.WriteFile(page, []byte(want.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}
