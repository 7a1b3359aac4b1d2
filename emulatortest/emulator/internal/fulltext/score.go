package fulltext

import "math"

// The constants of BM25: how soon repetitions of a word stop to matter, and how much the length of a text does.
const (
	saturation = 1.2
	lengthBias = 0.75
)

// Statistics is what is known of all texts together.
type Statistics struct {
	Documents float64   // how many there are
	Words     float64   // the sum of their lengths
	Hits      []float64 // how many have each keyword
}

// Score is how well a text matches keywords, each a phrase as words. It is 0 for a text that has none of them.
func (s Statistics) Score(text []string, keywords [][]string) float64 {
	average := s.Words / s.Documents
	if !(average > 0) {
		average = 1
	}
	relative := float64(Length(text)) / average
	total := 0.0
	for i, keyword := range keywords {
		found := float64(Count(text, keyword))
		if found == 0 {
			continue
		}
		hits := found
		if i < len(s.Hits) {
			hits = s.Hits[i]
		}
		// Statistics that are wrong must not make a rarity below zero.
		rarity := math.Log1p(math.Max(s.Documents-hits+0.5, 0) / (hits + 0.5))
		total += rarity * found * (saturation + 1) / (found + saturation*(1-lengthBias+lengthBias*relative))
	}
	return total
}
