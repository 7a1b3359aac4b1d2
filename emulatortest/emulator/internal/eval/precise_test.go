package eval_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/eval"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// TestMathematicsToTheLastDigit compares with results that were computed to more than a hundred digits and then rounded.
func TestMathematicsToTheLastDigit(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/precise.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); rows++ {
		var row struct {
			Call string
			Args []json.Number
			Want float64
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		args := strings.Trim(strings.ReplaceAll(fmt.Sprint(row.Args), " ", ", "), "[]")
		call := row.Call + "(" + args + ")"
		values, err := results(compile(t, "SELECT VALUE "+call), eval.Env{Now: noon}, value.Value{})
		if err != nil || len(values) != 1 {
			t.Fatalf("%s: %v, %v", call, values, err)
		}
		if got, _ := values[0].Number(); got != row.Want {
			t.Errorf("%s is %v, want %v (%g units of the last place apart)", call, got, row.Want,
				math.Abs(got-row.Want)/(math.Nextafter(math.Abs(row.Want), math.Inf(1))-math.Abs(row.Want)))
		}
	}
	if rows == 0 {
		t.Fatal("no rows")
	}
}
