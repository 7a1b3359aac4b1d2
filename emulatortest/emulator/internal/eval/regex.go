package eval

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// maxPattern is the longest regular expression that is compiled, in bytes. Matching takes time linear in the text, and a
// bound on the pattern keeps the factor small.
const maxPattern = 16 << 10

// maxInstructions bounds what a pattern is compiled to: counted repeats make a long program of a short text.
const maxInstructions = 50_000

// maxCachedBytes bounds what a query with a pattern from each item may hold on to.
const maxCachedBytes = 32 << 20

// regexMatch runs a pattern in the syntax of Go's regexp package, which is that of RE2: no look-around and no
// back-references. Those are refused rather than answered wrongly.
func regexMatch(r *run, args []value.Value) value.Value {
	parts, ok := texts(args)
	if !ok {
		return value.Value{}
	}
	modifiers := ""
	if len(parts) == 3 {
		modifiers = parts[2]
	}
	compiled, err := r.pattern(parts[1], modifiers)
	if err != nil {
		r.fail(err)
		return value.Value{}
	}
	if compiled == nil {
		return value.Value{}
	}
	return value.FromBool(compiled.matches(r, parts[0]))
}

// pattern is a compiled regular expression.
type pattern struct {
	*regexp.Regexp
	instructions int // matching takes time with their number times the length of the text
}

// bytes is about what the pattern takes in memory.
func (p *pattern) bytes() int {
	const perInstruction = 400
	if p == nil {
		return perInstruction
	}
	return perInstruction * p.instructions
}

// matches reads a long text bit by bit, so that the match ends when the run does.
func (p *pattern) matches(r *run, text string) bool {
	const perStep, atOnce = 10, 1 << 20
	if len(text) < atOnce/p.instructions {
		return r.work(perStep*len(text)) && p.MatchString(text)
	}
	return p.MatchReader(&countedText{Reader: strings.NewReader(text), run: r, steps: perStep * p.instructions})
}

// countedText is a text of which each character costs steps to read. It ends early when the run may not go on.
type countedText struct {
	*strings.Reader
	run   *run
	steps int
}

func (t *countedText) ReadRune() (r rune, size int, err error) {
	if !t.run.work(t.steps) {
		return 0, 0, io.EOF
	}
	return t.Reader.ReadRune()
}

// pattern compiles a regular expression once for each run. It returns nil for modifiers that don't exist, and for a text
// that is no regular expression in any syntax: the service answers undefined for both.
func (r *run) pattern(text, modifiers string) (*pattern, error) {
	key := modifiers + "/" + text
	if compiled, seen := r.patterns[key]; seen {
		return compiled, nil
	}
	compiled, err := r.compilePattern(text, modifiers)
	if err != nil {
		return nil, err
	}
	if r.patterns == nil || r.patternBytes > maxCachedBytes {
		r.meter.Free(r.patternBytes)
		r.patterns, r.patternBytes = make(map[string]*pattern), 0
	}
	bytes := len(key) + compiled.bytes()
	r.keep(bytes)
	r.patterns[key] = compiled
	r.patternBytes += bytes
	return compiled, nil
}

func (r *run) compilePattern(text, modifiers string) (*pattern, error) {
	if strings.Trim(modifiers, "msix") != "" {
		return nil, nil
	}
	if strings.Contains(modifiers, "x") {
		text = withoutLayout(text)
	}
	flags := ""
	for _, f := range "msi" {
		if strings.ContainsRune(modifiers, f) {
			flags += string(f)
		}
	}
	if flags != "" {
		text = "(?" + flags + ")" + text
	}
	if len(text) > maxPattern {
		return nil, unsupported(fmt.Sprintf("a regular expression of more than %d bytes", maxPattern))
	}
	tooLarge := unsupported("a regular expression whose repeats make it this large")
	refusal := unsupported("this regular expression (RE2 syntax only: no look-around, no back-references)")
	tree, err := syntax.Parse(text, syntax.Perl)
	var problem *syntax.Error
	switch {
	case malformed(err):
		return nil, nil
	case errors.As(err, &problem) && (problem.Code == syntax.ErrLarge || problem.Code == syntax.ErrInvalidRepeatSize):
		return nil, tooLarge
	case err != nil:
		return nil, refusal
	}
	const perInstruction = 500 // steps to compile one
	instructions := instructionsOf(tree)
	if instructions > maxInstructions {
		return nil, tooLarge
	}
	if !r.work(perInstruction * (instructions + len(text))) {
		return nil, r.err
	}
	compiled, err := regexp.Compile(text)
	if err != nil {
		return nil, refusal
	}
	return &pattern{Regexp: compiled, instructions: instructions}, nil
}

// instructionsOf estimates the size of the program that a regular expression is compiled to, before it is.
func instructionsOf(e *syntax.Regexp) int {
	n := 1 + len(e.Rune)
	if e.Op == syntax.OpCharClass {
		n = 1
	}
	for _, sub := range e.Sub {
		n = min(n+instructionsOf(sub)+1, maxInstructions+1)
	}
	if e.Op == syntax.OpRepeat {
		n *= max(e.Min, e.Max, 1) + 1
	}
	return min(n, maxInstructions+1)
}

// malformed reports whether an error is about something that Perl's syntax, which the service has, forbids as well. Other
// errors may be about what RE2 alone lacks.
func malformed(err error) bool {
	var problem *syntax.Error
	if !errors.As(err, &problem) {
		return false
	}
	switch problem.Code {
	case syntax.ErrInvalidCharRange, syntax.ErrMissingBracket, syntax.ErrMissingParen, syntax.ErrUnexpectedParen,
		syntax.ErrMissingRepeatArgument, syntax.ErrTrailingBackslash:
		return true
	default:
		return false
	}
}

// withoutLayout does what the x modifier asks for: white space and comments outside of character classes don't count.
func withoutLayout(text string) string {
	var kept strings.Builder
	inClass, escaped, inComment := false, false, false
	for _, r := range text {
		switch {
		case inComment:
			inComment = r != '\n'
			continue
		case escaped:
			escaped = false
		case r == '\\':
			escaped = true
		case inClass:
			inClass = r != ']'
		case r == '[':
			inClass = true
		case r == '#':
			inComment = true
			continue
		case strings.ContainsRune(" \t\r\n\f\v", r):
			continue
		}
		kept.WriteRune(r)
	}
	return kept.String()
}
