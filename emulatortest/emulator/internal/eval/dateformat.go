package eval

import (
	"fmt"
	"strings"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// dateFormat writes a date by a pattern of repeated letters, the custom date formats of .NET in the invariant culture:
// y M d h H m s f F t, a backslash before a character that stands for itself, quotes around text that does.
func dateFormat(args []value.Value) value.Value {
	t, ok := instant(args[0])
	layout, okLayout := args[1].Str()
	if !ok || !okLayout {
		return value.Value{}
	}
	at := t.time()
	out := new(strings.Builder)
	for rest := []rune(layout); len(rest) > 0; {
		switch c := rest[0]; {
		case c == '\\' && len(rest) > 1:
			out.WriteRune(rest[1])
			rest = rest[2:]
		case c == '\'' || c == '"':
			rest = quoted(out, rest)
		default:
			n := 1
			for n < len(rest) && rest[n] == c {
				n++
			}
			writeField(out, at, c, n)
			rest = rest[n:]
		}
	}
	return value.FromString(out.String())
}

// quoted writes the text up to the closing quote and returns what follows it.
func quoted(out *strings.Builder, rest []rune) []rune {
	for i := 1; i < len(rest); i++ {
		if rest[i] == rest[0] {
			return rest[i+1:]
		}
		out.WriteRune(rest[i])
	}
	return nil
}

// writeField writes the field that n letters c stand for, or the letters themselves when they stand for none.
func writeField(out *strings.Builder, at time.Time, c rune, n int) {
	number := func(x int) { fmt.Fprintf(out, "%0*d", min(n, 2), x) }
	switch c {
	case 'y':
		if n <= 2 {
			number(at.Year() % 100)
			return
		}
		fmt.Fprintf(out, "%0*d", min(n, 9), at.Year())
	case 'M':
		named(out, n, int(at.Month()), at.Month().String())
	case 'd':
		named(out, n, at.Day(), at.Weekday().String())
	case 'h':
		number((at.Hour()+11)%12 + 1)
	case 'H':
		number(at.Hour())
	case 'm':
		number(at.Minute())
	case 's':
		number(at.Second())
	case 'f', 'F':
		const most = 7
		digits := fmt.Sprintf("%07d", at.Nanosecond()/nanosecondsPerTick)[:min(n, most)]
		if c == 'F' {
			digits = strings.TrimRight(digits, "0")
		}
		out.WriteString(digits)
	case 't':
		out.WriteString(at.Format("PM")[:min(n, 2)])
	default:
		out.WriteString(strings.Repeat(string(c), n))
	}
}

// named writes a number for one or two letters, the first three characters of a name for three, all of it for more.
func named(out *strings.Builder, n, number int, name string) {
	switch {
	case n <= 2:
		fmt.Fprintf(out, "%0*d", n, number)
	case n == 3:
		out.WriteString(name[:3])
	default:
		out.WriteString(name)
	}
}
