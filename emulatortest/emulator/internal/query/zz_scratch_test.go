package query_test

import (
	"bufio"
	"fmt"
	"os"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/query"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

func TestScratch(t *testing.T) {
	f, err := os.Open(os.Getenv("SCRATCH"))
	if err != nil {
		t.Skip("no scratch file")
	}
	sc := bufio.NewScanner(f)
	var source query.Slice
	for sc.Scan() {
		line := sc.Text()
		if line == "" {
			continue
		}
		if line[0] == '{' {
			v, err := value.Parse([]byte(line))
			if err != nil {
				t.Fatal(err)
			}
			source = append(source, query.Item{RID: rid(len(source) + 1), Raw: []byte(line), Value: v})
			continue
		}
		if line == "--" {
			source = nil
			continue
		}
		if _, err := sql.Parse(line); err != nil {
			fmt.Println(line, "\n   PARSE", err)
			continue
		}
		page, err := query.Run(t.Context(), request(t, line, source))
		fmt.Println(line)
		if err != nil {
			fmt.Println("   ERR", err)
			continue
		}
		for _, d := range page.Documents {
			fmt.Println("  ", string(d))
		}
	}
}
