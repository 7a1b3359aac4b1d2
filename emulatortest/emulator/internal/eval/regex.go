package eval

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// maxPattern is the longest regular expression that is compiled, in bytes. Matching takes time linear in the text, and a
// bound on the pattern keeps the factor small.
const maxPattern = 16 << 10

// maxCachedPatterns bounds what a query with a pattern from each item may hold on to.
const maxCachedPatterns = 256

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
	if compiled == nil || !r.affords(len(parts[0]), compiled.instructions) {
		return value.Value{}
	}
	return value.FromBool(compiled.MatchString(parts[0]))
}

// pattern is a compiled regular expression.
type pattern struct {
	*regexp.Regexp
	instructions int // matching takes time with their number times the length of the text
}

// pattern compiles a regular expression once for each run. It returns nil for modifiers that don't exist, and for a text
// that is no regular expression in any syntax: the service answers undefined for both.
func (r *run) pattern(text, modifiers string) (*pattern, error) {
	key := modifiers + "/" + text
	if compiled, seen := r.patterns[key]; seen {
		return compiled, nil
	}
	compiled, err := compilePattern(text, modifiers)
	if err != nil {
		return nil, err
	}
	if r.patterns == nil || len(r.patterns) >= maxCachedPatterns {
		r.patterns = make(map[string]*pattern)
	}
	r.patterns[key] = compiled
	return compiled, nil
}

func compilePattern(text, modifiers string) (*pattern, error) {
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
	refusal := unsupported("this regular expression (RE2 syntax only: no look-around, no back-references)")
	compiled, err := regexp.Compile(text)
	if malformed(err) {
		return nil, nil
	}
	if err != nil {
		return nil, refusal
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, refusal
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, refusal
	}
	return &pattern{Regexp: compiled, instructions: len(program.Inst)}, nil
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
