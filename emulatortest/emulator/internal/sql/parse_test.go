package sql_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// readLines decodes a file of one JSON object to a line.
func readLines[T any](t *testing.T, file string) []T {
	t.Helper()
	f, err := os.Open("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	var rows []T
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var row T
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		rows = append(rows, row)
	}
	if err := lines.Err(); err != nil || len(rows) == 0 {
		t.Fatalf("%s: %d rows, %v", file, len(rows), err)
	}
	return rows
}

func TestAccepted(t *testing.T) {
	t.Parallel()
	for _, tt := range readLines[struct{ Name, Query, Printed string }](t, "accepted.jsonl") {
		t.Run(tt.Name, func(t *testing.T) {
			t.Parallel()
			q, err := sql.Parse(tt.Query)
			if err != nil {
				t.Fatal(err)
			}
			if got := q.String(); got != tt.Printed {
				t.Fatalf("got  %s\nwant %s", got, tt.Printed)
			}
			again, err := sql.Parse(q.String())
			if err != nil {
				t.Fatalf("the print is refused: %v", err)
			}
			if again.String() != q.String() {
				t.Errorf("the print of the print is %s", again)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	type refusal struct {
		Name, Query, Code, Message string
		Start, End                 int
	}
	for _, tt := range readLines[refusal](t, "refused.jsonl") {
		t.Run(tt.Name, func(t *testing.T) {
			t.Parallel()
			_, err := sql.Parse(tt.Query)
			var syntax *sql.SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("got %v, want a SyntaxError", err)
			}
			if syntax.Code != tt.Code || syntax.Start != tt.Start || syntax.End != tt.End {
				t.Errorf("got %s from %d to %d (%s), want %s from %d to %d", syntax.Code, syntax.Start, syntax.End, syntax.Message,
					tt.Code, tt.Start, tt.End)
			}
			if tt.Message != "" && syntax.Message != tt.Message {
				t.Errorf("got  %s\nwant %s", syntax.Message, tt.Message)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	nested := func(n int) string { return "SELECT " + strings.Repeat("(", n) + "1" + strings.Repeat(")", n) }
	joins := func(n int) string {
		text := "SELECT 1 FROM c"
		for i := range n {
			text += fmt.Sprintf(" JOIN t%d IN c.t", i)
		}
		return text
	}
	list := func(n int) string { return "SELECT c.a IN (" + strings.Repeat("1,", n-1) + "1) FROM c" }
	for _, tt := range []struct {
		name string
		text string
		ok   bool
	}{
		{"nesting", nested(200), true},
		{"too much nesting", nested(300), false},
		{"operators to the right", "SELECT " + strings.Repeat("NOT ", 100_000) + "true", false},
		{"conditionals", "SELECT " + strings.Repeat("true ? 1 : ", 100_000) + "2", false},
		{"arrays", "SELECT " + strings.Repeat("[", 100_000), false},
		{"objects", "SELECT " + strings.Repeat("{a:", 100_000), false},
		{"subqueries", strings.Repeat("SELECT (", 40_000), false},
		{"a path", "SELECT c" + strings.Repeat(".a", 100) + " FROM c", true},
		{"a long path", "SELECT c" + strings.Repeat(".a", 100_000) + " FROM c", false},
		{"a long source path", "SELECT 1 FROM c" + strings.Repeat("[0]", 100_000), false},
		{"a chain", "SELECT VALUE " + strings.Repeat("1+", 100_000) + "1", true},
		{"a grouped chain", "SELECT VALUE " + strings.Repeat("1+", 60_000) + "c.a FROM c GROUP BY c.a, " + strings.Repeat("1+", 60_000) + "1", true},
		{"joins", joins(10), true},
		{"too many joins", joins(11), false},
		{"a list", list(16_000), true},
		{"a list too long", list(16_001), false},
		{"the longest text", "SELECT 1" + strings.Repeat(" ", sql.MaxText-8), true},
		{"too long a text", "SELECT 1" + strings.Repeat(" ", sql.MaxText-7), false},
		{"no UTF-8", "SELECT '\xff'", false},
		{"a long name", "SELECT " + strings.Repeat("é", 200_000) + " FROM c", false},
		{"a long function", "SELECT " + strings.Repeat("f", 200_000) + "()", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := sql.Parse(tt.text)
			var syntax *sql.SyntaxError
			if tt.ok && err != nil || !tt.ok && !errors.As(err, &syntax) {
				t.Errorf("got %v", err)
			}
			if err != nil && len(err.Error()) > 400 {
				t.Errorf("the error quotes the query: %d bytes", len(err.Error()))
			}
		})
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ query, want string }{
		{`SELECT 1, 'x'`, "$1 $2"},
		{`SELECT c.a.b, 1, c["d e"], c FROM c`, "b $1 d e c"},
		{`SELECT c.a[0], c[@p], {a: 1}.a, c.a[0].b FROM c`, "$1 $2 $3 b"},
		{`SELECT COUNT(1), c.x AS y, LOWER(c.x) FROM c GROUP BY c.x, LOWER(c.x)`, "$1 y $2"},
		{`SELECT VALUE 1`, ""},
		{`SELECT * FROM c`, ""},
	} {
		q, err := sql.Parse(tt.query)
		if err != nil {
			t.Errorf("%s: %v", tt.query, err)
			continue
		}
		if got := strings.Join(q.Select.Names(), " "); got != tt.want {
			t.Errorf("%s names %q, want %q", tt.query, got, tt.want)
		}
	}
}

func TestContainerIsMarked(t *testing.T) {
	t.Parallel()
	q, err := sql.Parse(`SELECT s FROM (SELECT VALUE x FROM c.a AS x JOIN t IN x.tags) AS s JOIN u IN s.list`)
	if err != nil {
		t.Fatal(err)
	}
	inner := q.From.Sources[0].(*sql.SubquerySource).Query.From.Sources
	if !inner[0].(*sql.PathSource).Path.Container {
		t.Error("c is the container")
	}
	if inner[1].(*sql.IteratorSource).Path.Container || q.From.Sources[1].(*sql.IteratorSource).Path.Container {
		t.Error("x and s are bound by the query")
	}
}

func TestCountResolve(t *testing.T) {
	t.Parallel()
	q, err := sql.Parse(`SELECT * FROM c OFFSET @o LIMIT 7`)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := q.Limit.Resolve(nil); n != 7 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	for _, tt := range []struct {
		v    value.Value
		want int
		ok   bool
	}{
		{value.FromNumber(0), 0, true}, {value.FromNumber(2147483647), 2147483647, true}, {value.FromNumber(2147483648), 0, false},
		{value.FromNumber(-1), 0, false}, {value.FromNumber(1.5), 0, false}, {value.FromString("1"), 0, false}, {value.Value{}, 0, false},
	} {
		n, err := q.Offset.Resolve(map[string]value.Value{"@o": tt.v})
		if n != tt.want || (err == nil) != tt.ok {
			t.Errorf("%s gives %d, %v", tt.v, n, err)
		}
		var syntax *sql.SyntaxError
		if err != nil && (!errors.As(err, &syntax) || syntax.Code != sql.CodeOffsetCount) {
			t.Errorf("%s gives %v", tt.v, err)
		}
	}
}

// Every function of Microsoft's reference must at least be recognised, so that what an evaluator lacks fails by name.
func TestFunctionsOfTheReference(t *testing.T) {
	t.Parallel()
	for _, name := range strings.Fields(`AVG COUNT COUNTIF MAX MIN SUM MAKELIST MAKESET ARRAY_AVG ARRAY_CONCAT ARRAY_CONTAINS ARRAY_CONTAINS_ALL
		ARRAY_CONTAINS_ANY ARRAY_LENGTH ARRAY_MAX ARRAY_MEDIAN ARRAY_MIN ARRAY_SLICE ARRAY_SUM CHOOSE ObjectToArray SetDifference SetEqual
		SetIntersect SetUnion IIF DocumentId Ago DateTimeAdd DateTimeBin DateTimeDiff DateTimeFormat DateTimeFromParts DateTimePart
		DateTimeToTicks DateTimeToTimestamp Day Month Year GetCurrentDateTime GetCurrentDateTimeStatic GetCurrentTicks
		GetCurrentTicksStatic GetCurrentTimestamp GetCurrentTimestampStatic Now TicksToDateTime TimestampToDateTime ABS ACOS ASIN ATAN ATN2
		CEILING COS COT DEGREES EXP FLOOR IntAdd IntBitAnd IntBitLeftShift IntBitNot IntBitOr IntBitRightShift IntBitXor IntDiv IntMod
		IntMul IntSub LOG LOG10 NumberBin PI POWER RADIANS RAND ROUND SIGN SIN SQRT SQUARE TAN TRUNC ST_AREA ST_DISTANCE ST_INTERSECTS
		ST_ISVALID ST_ISVALIDDETAILED ST_WITHIN CONCAT CONTAINS CONTAINS_ALL_CI CONTAINS_ALL_CS CONTAINS_ANY_CI CONTAINS_ANY_CS ENDSWITH
		INDEX_OF LASTINDEXOF LEFT LENGTH LOWER LTRIM REGEXMATCH REPLACE REPLICATE REVERSE RIGHT RTRIM STARTSWITH STRINGEQUALS StringJoin
		StringSplit StringToArray StringToBoolean StringToNull StringToNumber StringToObject SUBSTRING ToString TRIM UPPER IS_ARRAY IS_BOOL
		IS_DATETIME IS_DEFINED IS_FINITE_NUMBER IS_INTEGER IS_NULL IS_NUMBER IS_OBJECT IS_PRIMITIVE IS_STRING VectorDistance
		FullTextContains FullTextContainsAll FullTextContainsAny FullTextScore RRF`) {
		f, ok := sql.LookupFunction(strings.ToLower(name))
		if !ok || f.Name != name {
			t.Errorf("%s is found as %q", name, f.Name)
		}
		if f.MaxArgs != sql.Unlimited && f.MaxArgs < f.MinArgs {
			t.Errorf("%s takes %d to %d arguments", name, f.MinArgs, f.MaxArgs)
		}
	}
}
