package eval

import (
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// dateFunctions compute with date strings and give undefined for what is not one.
func dateFunctions() []builtin {
	part := func(name string, u unit) builtin {
		return fn(name, 1, 1, pure(func(args []value.Value) value.Value { return datePart(u, args[0]) }))
	}
	return []builtin{
		fn("DateTimeAdd", 3, 3, pure(dateAdd)),
		fn("DateTimeBin", 2, 4, pure(dateBin)),
		fn("DateTimeDiff", 3, 3, pure(dateDiff)),
		fn("DateTimeFormat", 2, 2, pure(dateFormat)),
		fn("DateTimeFromParts", 3, 7, pure(dateFromParts)),
		fn("DateTimePart", 2, 2, pure(func(args []value.Value) value.Value {
			u, ok := unitOf(args[0])
			if !ok {
				return value.Value{}
			}
			return datePart(u, args[1])
		})),
		fn("DateTimeToTicks", 1, 1, pure(func(args []value.Value) value.Value {
			t, ok := instant(args[0])
			if !ok {
				return value.Value{}
			}
			return value.FromNumber(float64(t))
		})),
		fn("DateTimeToTimestamp", 1, 1, pure(func(args []value.Value) value.Value {
			t, ok := instant(args[0])
			if !ok {
				return value.Value{}
			}
			return timestamp(t)
		})),
		fn("TicksToDateTime", 1, 1, pure(func(args []value.Value) value.Value { return dateFromNumber(args[0], 1) })),
		fn("TimestampToDateTime", 1, 1, pure(func(args []value.Value) value.Value {
			return dateFromNumber(args[0], ticksPerMillisecond)
		})),
		part("Year", year),
		part("Month", month),
		part("Day", day),
	}
}

// clockFunctions ask for the time. Those that end in Static, and Now and Ago, give every item of one request the same answer.
func clockFunctions() []builtin {
	now := func(name string, static bool, show func(ticks) value.Value) builtin {
		return fn(name, 0, 0, func(r *run, _ []value.Value) value.Value {
			if static {
				return show(r.started)
			}
			return show(ticksOf(r.env.Now()))
		})
	}
	number := func(t ticks) value.Value { return value.FromNumber(float64(t)) }
	return []builtin{
		fn("Ago", 2, 2, func(r *run, args []value.Value) value.Value {
			u, okUnit := unitOf(args[0])
			n, ok := integer(args[1])
			if !okUnit || !ok {
				return value.Value{}
			}
			return moved(r.started, u, -n)
		}),
		now("GetCurrentDateTime", false, ticks.text),
		now("GetCurrentDateTimeStatic", true, ticks.text),
		now("GetCurrentTicks", false, number),
		now("GetCurrentTicksStatic", true, number),
		now("GetCurrentTimestamp", false, timestamp),
		now("GetCurrentTimestampStatic", true, timestamp),
		now("Now", true, ticks.text),
	}
}

// timestamp is a point in time in milliseconds since the Unix epoch.
func timestamp(t ticks) value.Value {
	return value.FromNumber(float64(floorDiv(t, ticksPerMillisecond)))
}

func moved(t ticks, u unit, n int64) value.Value {
	result, ok := t.add(u, n)
	if !ok {
		return value.Value{}
	}
	return result.text()
}

func dateFromNumber(v value.Value, scale ticks) value.Value {
	n, ok := integer(v)
	const far = 1 << 62
	if !ok || float64(n)*float64(scale) > far || float64(n)*float64(scale) < -far {
		return value.Value{}
	}
	return (ticks(n) * scale).text()
}

func dateAdd(args []value.Value) value.Value {
	u, okUnit := unitOf(args[0])
	n, okNumber := integer(args[1])
	t, ok := instant(args[2])
	if !okUnit || !okNumber || !ok {
		return value.Value{}
	}
	return moved(t, u, n)
}

func dateDiff(args []value.Value) value.Value {
	u, okUnit := unitOf(args[0])
	from, okFrom := instant(args[1])
	to, okTo := instant(args[2])
	if !okUnit || !okFrom || !okTo {
		return value.Value{}
	}
	if u == nanosecond {
		return value.FromNumber(float64(to-from) * nanosecondsPerTick) // as a double: the distance may pass 64 bits
	}
	return value.FromNumber(float64(to.boundary(u) - from.boundary(u)))
}

// dateBin rounds down to a multiple of the bin, counted from an origin that is the Unix epoch unless given.
func dateBin(args []value.Value) value.Value {
	t, okTime := instant(args[0])
	u, okUnit := unitOf(args[1])
	size, okSize := int64(1), true
	if len(args) > 2 {
		size, okSize = integer(args[2])
	}
	origin, okOrigin := ticks(0), true
	if len(args) > 3 {
		origin, okOrigin = instant(args[3])
	}
	const earliestOrigin = -11_644_473_600 * ticksPerSecond // 1601-01-01, the Windows epoch
	if !okTime || !okUnit || !okSize || !okOrigin || size <= 0 || origin < earliestOrigin {
		return value.Value{}
	}
	if u == year || u == month {
		return dateBinCalendar(t, u, size, origin)
	}
	length, ok := u.length()
	if !ok { // nanoseconds: a bin below one tick changes nothing
		length, size = 1, max(size/nanosecondsPerTick, 1)
	}
	if float64(size)*float64(length) > float64(1<<62) {
		return origin.text()
	}
	bin := ticks(size) * length
	return (origin + floorDiv(t-origin, bin)*bin).text()
}

func dateBinCalendar(t ticks, u unit, size int64, origin ticks) value.Value {
	distance := t.months() - origin.months()
	if back, ok := origin.addMonths(distance); ok && back > t {
		distance-- // the month has begun, but not yet the origin's day in it
	}
	bin := size
	if u == year {
		bin *= 12
	}
	if bin <= 0 || bin > 12*lastYear {
		return origin.text()
	}
	n := int64(floorDiv(ticks(distance), ticks(bin)))
	return moved(origin, month, n*bin)
}

func datePart(u unit, date value.Value) value.Value {
	t, ok := instant(date)
	if !ok {
		return value.Value{}
	}
	at := t.time()
	var n int
	switch u {
	case year:
		n = at.Year()
	case month:
		n = int(at.Month())
	case day:
		n = at.Day()
	case hour:
		n = at.Hour()
	case minute:
		n = at.Minute()
	case second:
		n = at.Second()
	case millisecond:
		n = at.Nanosecond() / 1_000_000
	case microsecond:
		n = at.Nanosecond() / 1000
	case nanosecond:
		n = at.Nanosecond()
	}
	return value.FromNumber(float64(n))
}

func dateFromParts(args []value.Value) value.Value {
	var parts [7]int
	for i, a := range args {
		n, ok := position(a)
		if !ok {
			return value.Value{}
		}
		parts[i] = n
	}
	t, ok := fromParts([6]int(parts[:6]), parts[6])
	if !ok {
		return value.Value{}
	}
	return t.text()
}
