package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// goCommand is a command of the go tool on packages of the repository, to the end of its line or quotation.
	goCommand = regexp.MustCompile(`go (run|test) ((?:-[\w.=]+ )*)(\./[\w./-]*)([^` + "`\n#]*)")
	flagOf    = regexp.MustCompile(`(?:^|\s)-([a-z][\w-]*)`)
	ciCommand = regexp.MustCompile(`\.ci/run((?: [a-z]+)*)`)
	makeWord  = regexp.MustCompile("(?m)(?:^|`)make ([a-z]+)")
	quotedFn  = regexp.MustCompile("`((?:Test|Benchmark|Fuzz|Example)[A-Z]\\w*)`")
)

// Commands that the pages tell to type name packages, flags and steps that exist.
func TestEveryCommandInThePagesExists(t *testing.T) {
	t.Parallel()
	makefile := read(t, "Makefile")
	ci := read(t, ".ci/run")
	found := 0
	for page, text := range pages(t) {
		name := filepath.Base(page)
		for _, m := range goCommand.FindAllStringSubmatch(text, -1) {
			found++
			dir := filepath.Join(top, filepath.FromSlash(strings.TrimSuffix(strings.TrimSuffix(m[3], "..."), "/")))
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				// The tutorial's program is the reader's own.
				if own, _ := filepath.Glob(filepath.Join(top, "docs", "code", "testdata", "tutorial", "*", m[3])); name != "tutorial.md" || own == nil {
					t.Errorf("%s: %q names no package", name, m[0])
				}
				continue
			}
			if m[1] != "run" {
				continue
			}
			for _, f := range flagOf.FindAllStringSubmatch(m[4], -1) {
				if !slices.Contains(flagsOf(t, dir), f[1]) {
					t.Errorf("%s: %q: there is no flag -%s", name, m[0], f[1])
				}
			}
		}
		for _, m := range ciCommand.FindAllStringSubmatch(text, -1) {
			for _, step := range strings.Fields(m[1]) {
				if step != "list" && !strings.Contains(ci, "step_"+step+"()") && strings.HasPrefix(m[0], ".ci/run "+step) && inCode(text, m[0]) {
					t.Errorf("%s: .ci/run has no step %q", name, step)
				}
			}
		}
		for _, m := range makeWord.FindAllStringSubmatch(text, -1) {
			if inCode(text, "make "+m[1]) && !strings.Contains(makefile, "\n"+m[1]+":") {
				t.Errorf("%s: make %s does not exist", name, m[1])
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d commands were found in the pages", found)
	}
}

// Tests and benchmarks that the pages give as proof exist.
func TestEveryTestNamedInThePagesExists(t *testing.T) {
	t.Parallel()
	var functions strings.Builder
	for _, file := range tree(t) {
		if strings.HasSuffix(file, "_test.go") {
			functions.WriteString(read(t, file))
		}
	}
	found := 0
	for page, text := range pages(t) {
		for _, m := range quotedFn.FindAllStringSubmatch(text, -1) {
			found++
			if !strings.Contains(functions.String(), "\nfunc "+m[1]+"(") {
				t.Errorf("%s: %s does not exist", filepath.Base(page), m[1])
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d tests were found in the pages", found)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(top, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// inCode reports whether the text has s in a quotation or a block.
func inCode(text, s string) bool {
	return slices.ContainsFunc(code.FindAllString(text, -1), func(c string) bool { return strings.Contains(c, s) })
}

// flagsOf are the names of the flags that a program declares.
func flagsOf(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\.(?:String|Bool|Int|Int64|Duration|Float64|Func|StringVar|BoolVar|IntVar|DurationVar|Var|TextVar|Float64Var)\((?:&?[\w.]+, )?"([\w-]+)"`).FindAllStringSubmatch(string(data), -1) {
			names = append(names, m[1])
		}
	}
	return names
}
