package fulltext_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/fulltext"
)

// TestCountFindsWhatASearchAtEachWordFinds compares with the plain way, on texts of few words that repeat.
func TestCountFindsWhatASearchAtEachWordFinds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.SampledFrom([]string{"a", "b"}))
		text, phrase := words.Draw(t, "text"), words.Draw(t, "phrase")
		want := 0
		for i := range text {
			if len(phrase) > 0 && len(text)-i >= len(phrase) && slices.Equal(text[i:i+len(phrase)], phrase) {
				want++
			}
		}
		if got := fulltext.Count(text, phrase); got != want {
			t.Errorf("%v in %v: got %d, want %d", phrase, text, got, want)
		}
	})
}

// TestLongPhrasesTakeLinearTime looks for a phrase whose beginning is everywhere.
func TestLongPhrasesTakeLinearTime(t *testing.T) {
	t.Parallel()
	text := fulltext.Words(strings.Repeat("a ", 500_000))
	phrase := fulltext.Words(strings.Repeat("a ", 250_000) + "b")
	begun := time.Now()
	if n := fulltext.Count(text, phrase); n != 0 {
		t.Errorf("found %d times", n)
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}
