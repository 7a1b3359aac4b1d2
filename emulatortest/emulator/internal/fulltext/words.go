package fulltext

import (
	"slices"
	"strings"
	"unicode"
)

// Words returns the words of a text, in one case whatever the language.
func Words(text string) []string {
	folded := strings.Map(func(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }, text)
	return strings.FieldsFunc(folded, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}

// Count is how often the words of a phrase follow each other in a text.
func Count(text, phrase []string) int {
	if len(phrase) == 0 {
		return 0
	}
	n := 0
	for i := 0; i+len(phrase) <= len(text); i++ {
		if text[i] == phrase[0] && slices.Equal(text[i:i+len(phrase)], phrase) {
			n++
		}
	}
	return n
}

// Length is how many words of a text count for scores: those that aren't stop words.
func Length(text []string) int {
	n := 0
	for _, word := range text {
		if !isStopWord(word) {
			n++
		}
	}
	return n
}
