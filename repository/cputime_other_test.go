//go:build !unix

package repository_test

import (
	"testing"
	"time"
)

var began = time.Now()

// processorTime is the time on the wall, where nothing better is asked for.
func processorTime(testing.TB) time.Duration { return time.Since(began) }
