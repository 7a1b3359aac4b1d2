package tenantitem_test

import (
	"os/exec"
	"strings"
	"testing"
)

// The compiler's own words are the interface here: they must name the fix.
func TestCompilerNamesTheFix(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "build", "./testdata/wrongbase").CombinedOutput()
	if err == nil {
		t.Fatal("wrong bases compile")
	}
	for _, says := range []string{
		"*Plain does not satisfy tenantitem.Root[Plain] (missing method mustEmbedTenantItem)",
		"*Note does not satisfy tenantitem.Root[Note] (wrong type for method mustEmbedTenantItem)",
	} {
		if !strings.Contains(string(out), says) {
			t.Errorf("missing %q in\n%s", says, out)
		}
	}
	if strings.Contains(string(out), "Root[Person]") {
		t.Errorf("the right base is refused:\n%s", out)
	}
}
