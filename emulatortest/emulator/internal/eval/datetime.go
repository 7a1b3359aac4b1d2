package eval

import (
	"strings"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// ticks is a point in time as the service counts it: 100-nanosecond units since 1970-01-01T00:00:00Z, negative before.
type ticks int64

const (
	ticksPerMicrosecond ticks = 10
	ticksPerMillisecond       = 1000 * ticksPerMicrosecond
	ticksPerSecond            = 1000 * ticksPerMillisecond
	ticksPerMinute            = 60 * ticksPerSecond
	ticksPerHour              = 60 * ticksPerMinute
	ticksPerDay               = 24 * ticksPerHour
	nanosecondsPerTick        = 100
)

// The years that a date string can express.
const (
	firstYear = 1
	lastYear  = 9999
)

// unit is a part of a date that the date functions name.
type unit uint8

const (
	year unit = iota + 1
	month
	day
	hour
	minute
	second
	millisecond
	microsecond
	nanosecond
)

// unitOf reads a part name; the documentation gives up to three spellings of each.
func unitOf(v value.Value) (unit, bool) {
	name, _ := v.Str()
	switch strings.ToLower(name) {
	case "year", "yyyy", "yy":
		return year, true
	case "month", "mm", "m":
		return month, true
	case "day", "dd", "d":
		return day, true
	case "hour", "hh":
		return hour, true
	case "minute", "mi", "n":
		return minute, true
	case "second", "ss", "s":
		return second, true
	case "millisecond", "ms":
		return millisecond, true
	case "microsecond", "mcs":
		return microsecond, true
	case "nanosecond", "ns":
		return nanosecond, true
	}
	return 0, false
}

// length is the unit's fixed length; years and months have none, and a nanosecond is less than a tick.
func (u unit) length() (ticks, bool) {
	switch u {
	case day:
		return ticksPerDay, true
	case hour:
		return ticksPerHour, true
	case minute:
		return ticksPerMinute, true
	case second:
		return ticksPerSecond, true
	case millisecond:
		return ticksPerMillisecond, true
	case microsecond:
		return ticksPerMicrosecond, true
	case year, month, nanosecond:
	}
	return 0, false
}

func ticksOf(t time.Time) ticks {
	return ticks(t.Unix())*ticksPerSecond + ticks(t.Nanosecond()/nanosecondsPerTick)
}

func (t ticks) time() time.Time {
	s := floorDiv(t, ticksPerSecond)
	return time.Unix(int64(s), int64(t-s*ticksPerSecond)*nanosecondsPerTick).UTC()
}

// text returns the point in time as a string value, or undefined when its year has not four digits.
func (t ticks) text() value.Value {
	at := t.time()
	if at.Year() < firstYear || at.Year() > lastYear {
		return value.Value{}
	}
	return value.FromString(at.Format("2006-01-02T15:04:05.0000000Z"))
}

func floorDiv(a, b ticks) ticks {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// instant reads a date string: YYYY-MM-DD, then optionally T or a space and hh:mm:ss with up to seven digits of a second,
// then optionally Z. Nothing else is a date, other time zones included.
func instant(v value.Value) (ticks, bool) {
	s, ok := v.Str()
	if !ok {
		return 0, false
	}
	s = strings.TrimSuffix(s, "Z")
	const dateLength, timeLength = len("YYYY-MM-DD"), len("YYYY-MM-DDThh:mm:ss")
	var fields [6]int
	var fraction int
	switch {
	case len(s) == dateLength:
		ok = matchDigits(s, "dddd-dd-dd", fields[:3])
	case len(s) < timeLength || s[dateLength] != 'T' && s[dateLength] != ' ':
		return 0, false
	default:
		ok = matchDigits(s[:dateLength], "dddd-dd-dd", fields[:3]) && matchDigits(s[dateLength+1:timeLength], "dd:dd:dd", fields[3:])
		if rest := s[timeLength:]; ok && rest != "" {
			fraction, ok = secondFraction(rest)
		}
	}
	if !ok {
		return 0, false
	}
	return fromParts(fields, fraction)
}

// matchDigits reads the numbers of a text whose layout has a d for each digit.
func matchDigits(text, layout string, numbers []int) bool {
	if len(text) != len(layout) {
		return false
	}
	n := 0
	for i := range len(layout) {
		switch {
		case layout[i] != 'd':
			if text[i] != layout[i] {
				return false
			}
			n++
		case text[i] < '0' || text[i] > '9':
			return false
		default:
			numbers[n] = numbers[n]*10 + int(text[i]-'0')
		}
	}
	return true
}

// secondFraction reads a point and one to seven digits, as ticks.
func secondFraction(text string) (int, bool) {
	const most = 7
	if len(text) < 2 || len(text) > 1+most || text[0] != '.' {
		return 0, false
	}
	n := 0
	for i := 1; i <= most; i++ {
		n *= 10
		if i < len(text) {
			if text[i] < '0' || text[i] > '9' {
				return 0, false
			}
			n += int(text[i] - '0')
		}
	}
	return n, true
}

// fromParts checks year, month, day, hour, minute and second against the calendar.
func fromParts(p [6]int, fraction int) (ticks, bool) {
	if p[0] < firstYear || p[0] > lastYear || fraction < 0 || ticks(fraction) >= ticksPerSecond {
		return 0, false
	}
	t := time.Date(p[0], time.Month(p[1]), p[2], p[3], p[4], p[5], 0, time.UTC)
	// The time package moves excess days and hours on; a date that moved was not one.
	if t.Year() != p[0] || int(t.Month()) != p[1] || t.Day() != p[2] || t.Hour() != p[3] || t.Minute() != p[4] || t.Second() != p[5] {
		return 0, false
	}
	return ticksOf(t) + ticks(fraction), true
}

// months counts the months since the year 0.
func (t ticks) months() int64 {
	at := t.time()
	return int64(at.Year())*12 + int64(at.Month()) - 1
}

// addMonths moves by whole months; a day that the month reached lacks becomes its last day.
func (t ticks) addMonths(n int64) (ticks, bool) {
	total := t.months() + n
	y, m := total/12, total%12
	if total < firstYear*12 || y > lastYear {
		return 0, false
	}
	at := t.time()
	first := time.Date(int(y), time.Month(m+1), 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	date := first.AddDate(0, 0, min(at.Day(), last)-1)
	return ticksOf(date) + (t - floorDiv(t, ticksPerDay)*ticksPerDay), true
}

// add moves by n units; false when the result is no date any more.
func (t ticks) add(u unit, n int64) (ticks, bool) {
	const far = 1 << 62 // ticks; more than lie between any two dates
	switch u {
	case year:
		if n > lastYear || n < -lastYear {
			return 0, false
		}
		return t.addMonths(12 * n)
	case month:
		if n > 12*lastYear || n < -12*lastYear {
			return 0, false
		}
		return t.addMonths(n)
	case nanosecond:
		return t + ticks(n/nanosecondsPerTick), true
	case day, hour, minute, second, millisecond, microsecond:
	}
	length, _ := u.length()
	if distance := float64(n) * float64(length); distance > far || distance < -far {
		return 0, false
	}
	return t + ticks(n)*length, true
}

// boundary numbers the units since the epoch (for years and months since the year 0), so that the difference between two
// numbers is how many boundaries lie between.
func (t ticks) boundary(u unit) int64 {
	switch u {
	case year:
		return int64(t.time().Year())
	case month:
		return t.months()
	case nanosecond:
		return int64(t) * nanosecondsPerTick
	case day, hour, minute, second, millisecond, microsecond:
	}
	length, _ := u.length()
	return int64(floorDiv(t, length))
}
