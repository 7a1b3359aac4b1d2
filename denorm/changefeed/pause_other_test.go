//go:build !linux

package changefeed_test

import (
	"errors"
	"os"
)

const cannotPause = "SIGSTOP and SIGCONT of another process are tried on Linux only"

func pause(*os.Process) error  { return errors.New(cannotPause) }
func resume(*os.Process) error { return errors.New(cannotPause) }
