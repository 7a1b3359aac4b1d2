package eval_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/eval"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// leaving is the context of a client that leaves after it has been looked at a few times.
type leaving struct {
	context.Context
	looks int
}

func (l *leaving) Err() error {
	if l.looks--; l.looks < 0 {
		return context.Canceled
	}
	return nil
}

// TestRunsEndWhenTheirClientLeaves runs queries that are one long piece of work over a single row.
func TestRunsEndWhenTheirClientLeaves(t *testing.T) {
	t.Parallel()
	const block = 1 << 16
	zeros := "[" + strings.Repeat("0,", block) + "0]"
	env := eval.Env{
		Now: noon,
		Parameters: map[string]value.Value{
			"@text": value.FromString(strings.Repeat("a", block)),
			"@list": parse(t, zeros), "@other": parse(t, strings.TrimSuffix(zeros, "0]")+"1]"),
			"@line": parse(t, `{"type":"LineString","coordinates":[`+strings.Repeat("[0,0],[1,1],", 500)+`[0,0]]}`),
		},
	}
	many := func(part string) string { return "SELECT VALUE [" + strings.Repeat(part+",", 5000) + "0]" }
	for name, query := range map[string]string{
		"one regular expression": `SELECT VALUE RegexMatch(@text, "(a?){500}(a?){500}b")`,
		"regular expressions":    many(`RegexMatch(@text, "(a?){100}b")`),
		"LIKE":                   `SELECT VALUE @text LIKE "%` + strings.Repeat("a", block/2) + `b%"`,
		"trimming":               many("LTRIM(@text, @text)"),
		"searching":              many(`CONTAINS(@text, "b", true)`),
		"counting":               many(`LENGTH(@text)`),
		"any of them":            "SELECT VALUE ARRAY_CONTAINS_ANY(@list, " + strings.Repeat("1,", 5000) + "1)",
		"all of them":            "SELECT VALUE ARRAY_CONTAINS_ALL(@other, " + strings.Repeat("1,", 5000) + "1)",
		"sums":                   many("ARRAY_SUM(@list)"),
		"sets":                   many("SetEqual(@list, @other)"),
		"comparisons":            many("@list = @other"),
		"IN":                     "SELECT VALUE @list IN (" + strings.Repeat("@other,", 5000) + "@other)",
		"distances":              many("VectorDistance(@list, @other)"),
		"geometry":               many("ST_DISTANCE(@line, @line)"),
		"words":                  many(`FullTextContains(@text, "b")`),
		"rows":                   "SELECT VALUE COUNT(1) FROM a IN (SELECT VALUE @list) JOIN b IN (SELECT VALUE @list)",
		"empty rows":             "SELECT VALUE 1 FROM a IN (SELECT VALUE @list) JOIN b IN (SELECT VALUE @list) WHERE b = 1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := compile(t, query).NewRun(&leaving{Context: t.Context(), looks: 3}, env)
			var err error
			if compile(t, query).Folds() {
				_, err = run.Groups().Add(value.Value{})
			} else {
				err = run.Item(value.Value{}, func(r eval.Row) bool {
					_, _, err := r.Value()
					return err == nil
				})
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("got %v, want context.Canceled", err)
			}
		})
	}
}

// TestMemoryComesBack runs queries that build many times their budget, but a little at a time.
func TestMemoryComesBack(t *testing.T) {
	t.Parallel()
	env := eval.Env{
		Limits:     eval.Limits{Bytes: 1 << 20},
		Parameters: map[string]value.Value{"@text": value.FromString(strings.Repeat("a", 10_000)), "@list": parse(t, "["+strings.Repeat("0,", 999)+"0]")},
	}
	items := rows(t, `{"id": "a"}`, `{"id": "b"}`)
	const each = "FROM c JOIN x IN (SELECT VALUE @list) "
	for name, query := range map[string]string{
		"filter":            `SELECT VALUE 1 ` + each + `WHERE UPPER(@text) = "x"`,
		"counted":           `SELECT VALUE COUNT(UPPER(@text)) ` + each,
		"largest":           `SELECT VALUE MAX(CONCAT(@text, ToString(x))) ` + each,
		"grouped":           `SELECT COUNT(1) AS n ` + each + `GROUP BY UPPER(@text)`,
		"exists":            `SELECT VALUE COUNT(1) ` + each + `WHERE NOT EXISTS(SELECT VALUE UPPER(@text))`,
		"subquery":          `SELECT VALUE COUNT(1) ` + each + `WHERE (SELECT VALUE UPPER(@text)) = "x"`,
		"list":              `SELECT VALUE COUNT(1) ` + each + `WHERE ARRAY(SELECT VALUE UPPER(@text) FROM y IN (SELECT VALUE [1, 2, 3])) = [1]`,
		"aggregate inside":  `SELECT VALUE COUNT(1) ` + each + `WHERE (SELECT VALUE MAKELIST(UPPER(@text)) FROM y IN (SELECT VALUE [1, 2, 3])) = [1]`,
		"distinct inside":   `SELECT VALUE COUNT(1) ` + each + `WHERE (SELECT DISTINCT VALUE UPPER(@text)) = "x"`,
		"source":            `SELECT VALUE COUNT(1) ` + each + `JOIN (SELECT VALUE UPPER(@text)) y`,
		"source of sources": `SELECT VALUE COUNT(1) ` + each + `JOIN (SELECT VALUE z FROM (SELECT VALUE UPPER(@text)) z) y`,
		"any of":            `SELECT VALUE COUNT(CONTAINS_ANY_CI(@text, "x", "y", "z")) ` + each,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := results(compile(t, query), env, items...); err != nil {
				t.Fatalf("got %v, want a result", err)
			}
		})
	}
}

// TestKeptMemoryCounts is the other half: what stays is counted until the end.
func TestKeptMemoryCounts(t *testing.T) {
	t.Parallel()
	env := eval.Env{
		Limits:     eval.Limits{Bytes: 1 << 20},
		Parameters: map[string]value.Value{"@text": value.FromString(strings.Repeat("a", 10_000)), "@list": parse(t, "["+strings.Repeat("0,", 999)+"0]")},
	}
	items := rows(t, `{"id": "a"}`)
	const each = "FROM c JOIN x IN (SELECT VALUE @list) "
	for name, query := range map[string]string{
		"list":            `SELECT VALUE MAKELIST(UPPER(@text)) ` + each,
		"set":             `SELECT VALUE MAKESET(CONCAT(@text, ToString(RAND()))) ` + each,
		"groups":          `SELECT COUNT(1) AS n ` + each + `GROUP BY CONCAT(@text, ToString(RAND()))`,
		"subquery":        `SELECT VALUE ARRAY_LENGTH(ARRAY(SELECT VALUE UPPER(@text) FROM x IN (SELECT VALUE @list))) FROM c`,
		"list inside":     `SELECT VALUE (SELECT VALUE ARRAY_LENGTH(MAKELIST(UPPER(@text))) FROM x IN (SELECT VALUE @list)) FROM c`,
		"distinct inside": `SELECT VALUE (SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE CONCAT(@text, ToString(RAND())) FROM x IN (SELECT VALUE @list)) y) FROM c`,
		"list of sources": `SELECT VALUE MAKELIST(y) ` + each + `JOIN (SELECT VALUE UPPER(@text)) y`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := results(compile(t, query), env, items...)
			var refused *eval.Error
			if !errors.As(err, &refused) || !strings.Contains(refused.Message, "memory budget") {
				t.Fatalf("got %v, want an Error that names the memory budget", err)
			}
		})
	}
}
