package faults

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// String is the Go code that makes the fault, for a file that imports package emulator.
func (f Fault) String() string {
	var b strings.Builder
	b.WriteString("emulator.")
	b.WriteString(f.effect.code())
	if len(f.operations) > 0 {
		names := make([]string, len(f.operations))
		for i, op := range f.operations {
			names[i] = "emulator." + op.Constant()
		}
		b.WriteString(".On(" + strings.Join(names, ", ") + ")")
	}
	for _, name := range []struct{ method, text string }{
		{"Client", f.client}, {"Database", f.database}, {"Container", f.container}, {"Item", f.item},
	} {
		if name.text != "" {
			b.WriteString("." + name.method + "(" + strconv.Quote(name.text) + ")")
		}
	}
	if f.chance != 0 {
		fmt.Fprintf(&b, ".Probability(%v, %d)", f.chance, f.seed)
	}
	if f.nth > 1 {
		fmt.Fprintf(&b, ".Nth(%d)", f.nth)
	}
	switch {
	case f.times == forever:
		b.WriteString(".Keep()")
	case f.times > 1:
		fmt.Fprintf(&b, ".Times(%d)", f.times)
	}
	return b.String()
}

// GoString is the same as String, for %#v.
func (f Fault) GoString() string { return f.String() }

// code is the constructor and the methods that give an effect.
func (e Effect) code() string {
	var b strings.Builder
	delay := e.Delay
	switch {
	case e.Kill:
		b.WriteString("Kill()")
	case e.Suspend != 0:
		b.WriteString("Suspend(" + durationCode(e.Suspend) + ")")
	case e.Behind != 0:
		fmt.Fprintf(&b, "Behind(%d)", e.Behind)
	case e.EmptyPage:
		b.WriteString("EmptyPage()")
	case e.PageSize != 0:
		fmt.Fprintf(&b, "ShortPage(%d)", e.PageSize)
	case e.OtherForm:
		b.WriteString("OtherForm()")
	case e.Split:
		b.WriteString("Split()")
	case e.Merge:
		b.WriteString("Merge()")
	case e.RetryAfter != 0:
		b.WriteString("Throttle(" + durationCode(e.RetryAfter) + ")")
	case e.Status != 0:
		fmt.Fprintf(&b, "Answer(%d, %d)", e.Status, e.Substatus)
	case e.Cut:
		b.WriteString("Cut()")
	default:
		b.WriteString("Delay(" + durationCode(e.Delay) + ")")
		delay = 0
	}
	if e.After || e.SuspendAfter {
		b.WriteString(".AfterEffect()")
	}
	if e.Late {
		fmt.Fprintf(&b, ".Later(%d)", e.LateBy)
	}
	if delay != 0 {
		b.WriteString(".Delayed(" + durationCode(delay) + ")")
	}
	return b.String()
}

func durationCode(d time.Duration) string {
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{time.Hour, "time.Hour"}, {time.Minute, "time.Minute"}, {time.Second, "time.Second"}, {time.Millisecond, "time.Millisecond"}} {
		switch {
		case d == unit.length:
			return unit.name
		case d != 0 && d%unit.length == 0:
			return fmt.Sprintf("%d*%s", d/unit.length, unit.name)
		}
	}
	return strconv.FormatInt(int64(d), 10)
}

// Constant is the name of the operation's constant in package emulator: "read item" is ReadItem.
func (o Operation) Constant() string {
	if o == DeleteItemsByPartition {
		return "DeleteItemsByPartition"
	}
	var b strings.Builder
	for word := range strings.FieldsSeq(string(o)) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}
