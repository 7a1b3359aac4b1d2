package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

func TestLinesOfTheRequestLog(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.UTC)
	for _, c := range []struct {
		name   string
		e      emulator.Exchange
		took   time.Duration
		colour bool
		want   string
	}{
		{
			"a point read", emulator.Exchange{Operation: emulator.ReadItem, Database: "db", Container: "c", Item: "1", Status: 200, Charge: 1, Partitions: 1},
			1500 * time.Microsecond, false, "03:04:05.006  200       read item                 db/c/1                        1.00 RU      1.5 ms  1 partition(s)",
		},
		{
			"a scan over all partitions", emulator.Exchange{Operation: emulator.QueryItems, Database: "db", Container: "c", Status: 200, Charge: 52.5, Partitions: 4, FanOut: true, Loaded: 1000, Returned: 3},
			2 * time.Second, false, "03:04:05.006  200       query items               db/c                         52.50 RU   2000.0 ms  4 partition(s)  loaded 1000 for 3  fan-out  scan  slow",
		},
		{
			"a refusal with a colour", emulator.Exchange{Operation: emulator.ReadItem, Status: 404, Substatus: 1002},
			0, true, "03:04:05.006  \x1b[33m404/1002\x1b[0m  read item                                               0.00 RU      0.0 ms",
		},
		{
			"a fault", emulator.Exchange{Operation: emulator.ReadItem, Item: "a b\n", Cut: true, Faulted: true},
			0, false, `03:04:05.006  cut       read item                 "a b\n"                       0.00 RU      0.0 ms  fault`,
		},
	} {
		l := &requestLog{colour: c.colour}
		if got := l.line(c.e, at, c.took); got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}

func TestColoursAreForTerminals(t *testing.T) {
	t.Parallel()
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	if newRequestLog(file, "").colour {
		t.Error("a file has colours")
	}
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("this machine gives no terminal: %v", err)
	}
	t.Cleanup(func() { _ = terminal.Close() })
	if !newRequestLog(terminal, "").colour {
		t.Error("a terminal has none")
	}
	if newRequestLog(terminal, "1").colour {
		t.Error("NO_COLOR is not respected")
	}
}
