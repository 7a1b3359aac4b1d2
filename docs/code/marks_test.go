package code

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
)

// What docs/cost.md says of the marks of writes: one after a create, one more for each process that replaced the document lately.
func TestBytesOfMarks(t *testing.T) {
	t.Parallel()
	client := emulatortest.New(t, emulatortest.Calm()).Client(repository.ClientOptions(nil))
	database := emulatortest.DatabaseID(t, client, "notes")
	processes := []*repository.Scope[Note]{notesNamed(t, client, database), notesNamed(t, client, database), notesNamed(t, client, database)}
	id := note(t, processes[0], "marked", 1).ID
	container, err := client.NewContainer(database, "documents")
	if err != nil {
		t.Fatal(err)
	}
	// bytes counts what the member takes in the stored document, with its name and a comma.
	bytes := func() int {
		t.Helper()
		key := azcosmos.NewPartitionKeyString("acme").AppendString("Note")
		stored, err := container.ReadItem(t.Context(), key, id, nil)
		if err != nil {
			t.Fatal(err)
		}
		var document struct {
			Marks json.RawMessage `json:"_ops"`
		}
		if err := json.Unmarshal(stored.Value, &document); err != nil {
			t.Fatal(err)
		}
		return len(`"_ops":,`) + len(document.Marks)
	}
	near := func(what string, want int) {
		t.Helper()
		if got := bytes(); got < want-3 || got > want+3 {
			t.Errorf("%s: %d bytes, want about %d", what, got, want)
		}
	}
	near("created", 25)
	for i, process := range processes {
		for range 5 {
			if _, err := process.Mutate(t.Context(), id, func(n *Note) error { n.Stars++; return nil }); err != nil {
				t.Fatal(err)
			}
		}
		near("changed five times by another process", 25+(i+1)*13)
	}
	page, err := os.ReadFile("../cost.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := "(`_ops`) is about 25 bytes, and about 13 more for each process that replaced the document lately (`TestBytesOfMarks`)."; !strings.Contains(string(page), want) {
		t.Errorf("docs/cost.md does not say %q", want)
	}
}
