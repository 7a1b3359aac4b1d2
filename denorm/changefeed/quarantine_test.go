package changefeed_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/cosmosgrove/grove/denorm/changefeed"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// Whatever a change holds, and whatever is said of it, there is room for it in quarantine.
func TestEveryChangeHasRoomInQuarantine(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text, reason string
		stored       bool // with its document
	}{
		"markup, which escaped would not fit": {strings.Repeat("<", 800_000), "never", true},
		"a reason as large as two documents":  {"x", strings.Repeat("ä", 2_000_000), true},
		"a document as large as there can be": {strings.Repeat("x", 1_950_000), "never", false},
		"a large document and a large reason": {strings.Repeat("x", 1_850_000), strings.Repeat("<", 300_000), true},
		"a reason that is no text":            {"x", strings.Repeat("\xff", 5_000), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.putDocument("t1", `{"id":"refused","tenant":"t1","kind":"k","text":"`+tt.text+`"}`)
			b.put("t2", "a", 1)
			r := refuser{id: "refused", reason: func() error { return errors.New(tt.reason) }}
			cfg := b.config("large")
			cfg.MaxAttempts = 1
			p := b.processor(cfg, r.handle)
			b.caughtUp(p)
			if got := r.handled(); !slices.Equal(got, []string{"a"}) {
				t.Errorf("handled %v", got)
			}
			n := 0
			for q, err := range p.Quarantined(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				n++
				var document struct {
					Text string `json:"text"`
				}
				_ = json.Unmarshal(q.Document, &document) // empty without one
				if stored := document.Text == tt.text; stored != tt.stored || len(q.Reason) > 20_000 || !utf8.ValidString(q.Reason) {
					t.Errorf("the document is stored: %t; %d bytes of reason", stored, len(q.Reason))
				}
			}
			r.reason = nil
			replayed, err := p.Replay(t.Context())
			if n != 1 || replayed != 1 || err != nil || !slices.Equal(r.handled(), []string{"a", "refused"}) {
				t.Errorf("%d in quarantine, %d replayed, %v", n, replayed, err)
			}
		})
	}
}

// What the service does not take for the document within it is stored without it.
func TestQuarantineOfADocumentThatTheServiceRefuses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.put("t1", "refused", 1)
	r := refuser{id: "refused", reason: func() error { return errors.New("never") }}
	cfg := b.config("deep")
	cfg.MaxAttempts = 1
	refuse := sync.OnceFunc(func() {
		b.emu.Faults().Add(emulator.Answer(http.StatusBadRequest, 0).On(emulator.UpsertItem).Container("leases"))
	})
	p := b.processor(cfg, func(ctx context.Context, changes []changefeed.Change) error {
		refuse()
		return r.handle(ctx, changes)
	})
	b.caughtUp(p)
	for q, err := range p.Quarantined(t.Context()) {
		if err != nil || q.DocumentID != "refused" || len(q.Document) > 0 {
			t.Errorf("%+v, %v", q, err)
		}
	}
	if got := b.quarantined(p); len(got) != 1 {
		t.Errorf("quarantined %v", got)
	}
}
