package parented_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
)

// Two forests that both say what a delete of a note does would each see half of
// its descendants.
func TestASecondOwnerOfADeletePolicyIsRefused(t *testing.T) {
	t.Parallel()
	client := emulatortest.New(t).Client(repository.ClientOptions(nil))
	container, err := client.NewContainer("db", "notes") // nothing is sent
	if err != nil {
		t.Fatal(err)
	}
	notes, err := repository.New[Note](container, repository.Config{})
	if err != nil {
		t.Fatal(err)
	}
	soft := parented.Policy{Retain: 3600e9}
	first, second := parented.NewForest(parented.ForestConfig{}), parented.NewForest(parented.ForestConfig{})
	comments := func(f *parented.Forest) error {
		_, err := parented.New[Comment](f, notes, container, parented.Config{Rule: parented.Cascade})
		return err
	}
	if err := comments(first); err != nil {
		t.Fatal(err)
	}
	if err := parented.Register(first, notes, soft); err != nil {
		t.Fatalf("the same forest again: %v", err)
	}
	for name, err := range map[string]error{
		"by a child":        comments(second),
		"by its own policy": parented.Register(second, notes, soft),
		"by the engine":     engine.CollectionOf(notes).SetDeletePolicy(otherPolicy{}),
	} {
		if !errors.Is(err, repository.ErrInvalid) {
			t.Fatalf("%s: %v", name, err)
		}
		for _, word := range []string{"delete policy of Note", "a parented.Forest of [Comment, Note] has set one", " sets another"} {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%s: %q does not say %q", name, err, word)
			}
		}
	}
	if err := engine.CollectionOf(notes).SetDeletePolicy(otherPolicy{}); !strings.Contains(err.Error(), "the archive sets another") {
		t.Errorf("%q does not name the second owner", err)
	}
}

type otherPolicy struct{ engine.DeletePolicy }

func (otherPolicy) Owner() string { return "the archive" }
