//go:build unix

package repository_test

import (
	"syscall"
	"testing"
	"time"
)

// processorTime is what this process has used so far, the collector's share
// included.
func processorTime(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
