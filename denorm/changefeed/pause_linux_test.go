package changefeed_test

import (
	"os"
	"syscall"
)

const cannotPause = ""

// pause suspends a process so that it does not notice; resume lets it go on.
func pause(p *os.Process) error  { return p.Signal(syscall.SIGSTOP) }
func resume(p *os.Process) error { return p.Signal(syscall.SIGCONT) }
