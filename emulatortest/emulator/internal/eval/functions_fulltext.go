package eval

import (
	"slices"
	"strings"
	"unicode"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// fullTextFunctions match words regardless of case. There is no stemming and no list of stop words, which the service's
// analyzers have; ranking by relevance is refused.
func fullTextFunctions() []builtin {
	contains := func(text, phrase value.Value) value.Value {
		s, ok := text.Str()
		wanted, okPhrase := phrase.Str()
		if !ok || !okPhrase {
			return value.Value{}
		}
		return value.FromBool(hasPhrase(words(s), words(wanted)))
	}
	each := func(name string, most int, join func([]value.Value, func(value.Value) value.Value) value.Value) builtin {
		return fn(name, 2, most, pure(func(args []value.Value) value.Value {
			return join(args[1:], func(phrase value.Value) value.Value { return contains(args[0], phrase) })
		}))
	}
	return []builtin{
		each("FullTextContains", 2, all),
		each("FullTextContainsAll", unlimited, all),
		each("FullTextContainsAny", unlimited, anyOf),
		refused("FullTextScore"),
		refused("RRF"),
	}
}

func words(text string) []string {
	return strings.FieldsFunc(foldCase(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}

// hasPhrase reports whether the words of the phrase follow each other in the text.
func hasPhrase(text, phrase []string) bool {
	if len(phrase) == 0 {
		return false
	}
	for i := 0; i+len(phrase) <= len(text); i++ {
		if slices.Equal(text[i:i+len(phrase)], phrase) {
			return true
		}
	}
	return false
}
