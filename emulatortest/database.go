package emulatortest

import (
	"context"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/google/uuid"
)

// DatabaseID gives the id under which a test should create its database: in this process, where every test has an account
// of its own, the name as it is; on a real endpoint, which tests share, the name with a unique ending, and the database of
// that id is deleted when the test ends.
func DatabaseID(t testing.TB, client *azcosmos.Client, name string) string {
	t.Helper()
	if _, ok := endpointFromEnvironment(t); !ok {
		return name
	}
	id := name + "-" + uuid.NewString()
	t.Cleanup(func() {
		database, err := client.NewDatabase(id)
		if err != nil {
			t.Errorf("emulatortest: %v", err)
			return
		}
		// A test that failed early has not created it.
		_, _ = database.Delete(context.WithoutCancel(t.Context()), nil)
	})
	return id
}
