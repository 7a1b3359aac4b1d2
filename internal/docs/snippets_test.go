package docs

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the code of the files into the pages")

// snippet finds a Go block of a page and the marker in front of it:
//
//	<!-- snippet: docs/code/guide_test.go wire -->
//
// names the file, from the repository's top, and the region of it; without a
// name it is the whole file. A region begins at the line "// snippet: wire"
// and ends at the next "// end snippet"; "imports" is the import declaration.
// Only blocks of Go have to have one.
var snippet = regexp.MustCompile("(?m)^(?:<!-- snippet: (\\S+)(?: (\\S+))? -->\n)?```(\\w*)\n(?s:(.*?))^```$") //nolint:gocritic // the closing fence begins a line

// Every Go block of the pages is code of a file that is compiled, and run, with
// the others: what a reader copies works.
func TestEveryGoBlockIsCodeOfAFile(t *testing.T) {
	t.Parallel()
	found := 0
	for page, text := range pages(t) {
		name := filepath.Base(page)
		changed := snippet.ReplaceAllStringFunc(text, func(block string) string {
			m := snippet.FindStringSubmatch(block)
			if m[1] == "" && m[3] != "go" {
				return block
			}
			found++
			if m[1] == "" {
				t.Errorf("%s: a block names no file: put <!-- snippet: FILE NAME --> in front of\n%s", name, m[4])
				return block
			}
			want, problem := region(filepath.Join(top, filepath.FromSlash(m[1])), m[2])
			if problem != "" {
				t.Errorf("%s: %s %s: %s", name, m[1], m[2], problem)
				return block
			}
			if m[4] != want && !*update {
				t.Errorf("%s: the block is not what %s %s has: run go test ./internal/docs -update", name, m[1], m[2])
			}
			marker, _, _ := strings.Cut(block, "\n")
			return marker + "\n```" + m[3] + "\n" + want + "```"
		})
		if *update && changed != text {
			if err := os.WriteFile(page, []byte(changed), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d Go blocks were found in the pages", found)
	}
}

var (
	// markers are the lines around a region, with the empty lines inside of them.
	markers = regexp.MustCompile(`(?m)^[\t ]*// snippet: \S+\n\n?|\n?[\t ]*// end snippet\n`)
	imports = regexp.MustCompile(`(?ms)^import (?:\(\n.*?\n\)|"[^"]+")\n`)
)

// region is the named part of a file as a page shows it: without the
// indentation that all of its lines have and without empty lines around it. Its
// second result says what is wrong.
func region(path, name string) (code, problem string) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", "the file does not exist"
	}
	switch name {
	case "":
		return markers.ReplaceAllString(string(data), ""), ""
	case "imports":
		if found := imports.Find(data); found != nil {
			return string(found), ""
		}
		return "", "the file imports nothing"
	}
	var lines []string
	inside, ended := false, false
	for line := range strings.Lines(string(data)) {
		switch trimmed := strings.TrimSpace(line); {
		case trimmed == "// snippet: "+name:
			if inside || ended {
				return "", "the region begins twice"
			}
			inside = true
		case trimmed == "// end snippet" && inside:
			inside, ended = false, true
		case inside:
			lines = append(lines, line)
		}
	}
	if !ended {
		return "", "the region does not exist, or has no end"
	}
	return strings.Trim(strings.Join(dedent(lines), ""), "\n") + "\n", ""
}

func dedent(lines []string) []string {
	indent := -1
	for _, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		n := len(line) - len(strings.TrimLeft(line, "\t"))
		if indent < 0 || n < indent {
			indent = n
		}
	}
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = line[min(max(indent, 0), len(line)-len(strings.TrimLeft(line, "\t"))):]
	}
	return out
}
