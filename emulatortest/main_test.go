package emulatortest_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if realEndpoint() {
		os.Exit(m.Run()) // the SDK's own transport keeps its connections open
	}
	goleak.VerifyTestMain(m)
}
