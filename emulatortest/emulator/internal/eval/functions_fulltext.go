package eval

import (
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/fulltext"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// fullTextFunctions match words regardless of case, and score texts for the queries of a plan. FullTextScore and RRF stand in
// ORDER BY RANK alone, which clients run by such queries.
func fullTextFunctions() []builtin {
	each := func(name string, most int, join func([]value.Value, func(value.Value) value.Value) value.Value) builtin {
		return fn(name, 2, most, func(r *run, args []value.Value) value.Value {
			text, ok := args[0].Str()
			if !ok {
				return value.Value{}
			}
			words := fulltext.Words(text)
			return join(args[1:], func(keyword value.Value) value.Value {
				phrase, isString := keyword.Str()
				if keyword.Kind() == value.Object {
					r.fail(&Error{Message: sql.FuzzyRefusal})
				}
				if !isString || !r.work(len(text)) {
					return value.Value{}
				}
				return value.FromBool(fulltext.Count(words, fulltext.Words(phrase)) > 0)
			})
		})
	}
	return []builtin{
		each("FullTextContains", 2, all),
		each("FullTextContainsAll", unlimited, all),
		each("FullTextContainsAny", unlimited, anyOf),
		refused(sql.FullTextScore),
		refused(sql.RRF),
		fn(sql.FullTextWordCount, 1, 1, pure(func(args []value.Value) value.Value {
			text, ok := args[0].Str()
			if !ok {
				return value.Value{}
			}
			return value.FromNumber(float64(fulltext.Length(fulltext.Words(text))))
		})),
		fn(sql.PartialFullTextScore, 5, 5, fullTextScore),
	}
}

// fullTextScore scores a text by keywords, the number of documents, the number of words in them and the number of hits for
// each keyword. What isn't a text has no score.
func fullTextScore(r *run, args []value.Value) value.Value {
	text, okText := args[0].Str()
	list, okList := args[1].Array()
	documents, okDocuments := args[2].Number()
	words, okWords := args[3].Number()
	hits, okHits := numbers(args[4])
	if !okText || !okList || !okDocuments || !okWords || !okHits || !r.work(len(text)*len(list)) {
		return value.Value{}
	}
	keywords := make([][]string, len(list))
	for i, e := range list {
		phrase, ok := e.Str()
		if !ok {
			return value.Value{}
		}
		keywords[i] = fulltext.Words(phrase)
	}
	statistics := fulltext.Statistics{Documents: documents, Words: words, Hits: hits}
	return finite(statistics.Score(fulltext.Words(text), keywords))
}
