package eval

// likePattern is a parsed LIKE pattern: what each position of the text must be, with gaps that may be of any length.
type likePattern struct {
	parts []likePart
}

type likePart struct {
	gap     bool           // %
	matches likeCharacters // nil for a gap
}

type likeCharacters func(r rune) bool

// parseLike reads % _ [abc] [a-d] [^x]. The escape character, when there is one, makes the next character stand for
// itself. A bracket without an end, like any other character, stands for itself.
func parseLike(pattern string, escape rune) *likePattern {
	p := &likePattern{}
	literal := func(want rune) { p.parts = append(p.parts, likePart{matches: func(r rune) bool { return r == want }}) }
	runes := []rune(pattern)
	for i := 0; i < len(runes); i++ {
		switch c := runes[i]; {
		case escape != 0 && c == escape && i+1 < len(runes):
			i++
			literal(runes[i])
		case c == '%':
			p.parts = append(p.parts, likePart{gap: true})
		case c == '_':
			p.parts = append(p.parts, likePart{matches: func(rune) bool { return true }})
		case c == '[':
			class, end := parseClass(runes, i, escape)
			if end == 0 {
				literal(c)
				break
			}
			p.parts = append(p.parts, likePart{matches: class})
			i = end
		default:
			literal(c)
		}
	}
	return p
}

// parseClass reads the class that opens at start and returns where it closes; 0 means that it doesn't.
func parseClass(runes []rune, start int, escape rune) (class likeCharacters, end int) {
	i := start + 1
	exclude := i < len(runes) && runes[i] == '^'
	if exclude {
		i++
	}
	type span struct{ low, high rune }
	var spans []span
	for first := i; i < len(runes); i++ {
		if runes[i] == ']' && i > first {
			return func(r rune) bool {
				for _, s := range spans {
					if s.low <= r && r <= s.high {
						return !exclude
					}
				}
				return exclude
			}, i
		}
		if escape != 0 && runes[i] == escape && i+1 < len(runes) {
			i++
		}
		s := span{runes[i], runes[i]}
		if i+2 < len(runes) && runes[i+1] == '-' && runes[i+2] != ']' {
			s.high = runes[i+2]
			i += 2
		}
		spans = append(spans, s)
	}
	return nil, 0
}

// likeBytes is about what a pattern takes in memory once it is parsed.
func likeBytes(pattern string) int {
	const perCharacter = 80
	return perCharacter * len(pattern)
}

// match reports whether the whole text matches. It goes back to the last gap only, so that its time is bounded by the
// product of both lengths.
func (p *likePattern) match(r *run, text string) bool {
	const perRune, lookEvery = 10, 1 << 16
	if !r.hold(perRune * len(text)) {
		return false
	}
	runes := []rune(text)
	at, part := 0, 0
	gapAt, gapPart := 0, -1
	for tried := 1; at < len(runes); tried++ {
		if tried%lookEvery == 0 && !r.work(perRune*lookEvery) {
			return false
		}
		switch {
		case part < len(p.parts) && p.parts[part].gap:
			gapAt, gapPart = at, part
			part++
		case part < len(p.parts) && p.parts[part].matches(runes[at]):
			at++
			part++
		case gapPart >= 0:
			gapAt++
			at, part = gapAt, gapPart+1
		default:
			return false
		}
	}
	for part < len(p.parts) && p.parts[part].gap {
		part++
	}
	return part == len(p.parts)
}
