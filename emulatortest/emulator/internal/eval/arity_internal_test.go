package eval

import (
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
)

// The parser refuses a wrong number of arguments before the evaluator sees
// them, so the two have to agree.
func TestParserAndEvaluatorAgreeOnArguments(t *testing.T) {
	t.Parallel()
	for name, b := range builtins {
		f, ok := sql.LookupFunction(name)
		if !ok {
			t.Errorf("%s is unknown to the parser", name)
			continue
		}
		if b.call != nil && (f.MinArgs != b.least || f.MaxArgs != b.most) {
			t.Errorf("%s: the parser takes %d to %d arguments, the evaluator %d to %d", name, f.MinArgs, f.MaxArgs, b.least, b.most)
		}
	}
}
