package fulltext

import (
	"strings"
	"unicode"
)

// Words returns the words of a text, in one case whatever the language.
func Words(text string) []string {
	folded := strings.Map(func(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }, text)
	return strings.FieldsFunc(folded, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}

// Count is how often the words of a phrase follow each other in a text. It looks at each word of the text once.
func Count(text, phrase []string) int {
	if len(phrase) == 0 || len(phrase) > len(text) {
		return 0
	}
	// borders[i] is the length of the longest beginning of the phrase that its first i+1 words end with: where the match goes
	// on when the next word is another one.
	borders := make([]int, len(phrase))
	for i, matched := 1, 0; i < len(phrase); i++ {
		for matched > 0 && phrase[i] != phrase[matched] {
			matched = borders[matched-1]
		}
		if phrase[i] == phrase[matched] {
			matched++
		}
		borders[i] = matched
	}
	n, matched := 0, 0
	for _, word := range text {
		for matched > 0 && word != phrase[matched] {
			matched = borders[matched-1]
		}
		if word == phrase[matched] {
			matched++
		}
		if matched == len(phrase) {
			n++
			matched = borders[matched-1]
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
