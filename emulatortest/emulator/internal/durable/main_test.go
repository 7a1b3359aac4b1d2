package durable_test

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// childFolder makes the test binary run as the process that gets killed; see crash_test.go.
const childFolder = "GROVE_DURABLE_CHILD_FOLDER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childFolder); dir != "" {
		os.Exit(runChild(dir))
	}
	flag.Parse()
	goleak.VerifyTestMain(m)
}
