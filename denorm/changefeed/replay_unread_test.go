package changefeed_test

import (
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// That the container is not found for a moment does not say that the document is gone.
func TestReplayKeepsWhatCouldNotBeRead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var h picky
	p := b.refused(&h)
	armed := b.emu.Fault(emulator.Answer(404, 1003).On(emulator.ReadItem).Container(monitored).Keep())
	if n, err := p.Replay(t.Context()); n != 0 || err == nil || len(b.quarantined(p)) != 3 {
		t.Errorf("replayed %d, %v, in quarantine: %v", n, err, b.quarantined(p))
	}
	armed.Disarm()
	if n, err := p.Replay(t.Context()); n != 3 || err != nil {
		t.Errorf("replayed %d, %v", n, err)
	}
}
