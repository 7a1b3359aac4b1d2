package code

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/emulatortest"
)

const infrastructure = "../infrastructure"

// The descriptions of docs/infrastructure make what the application itself would make: the same
// containers with the same keys, version 2, and time to live on without a default.
func TestInfrastructureIsWhatProvisionMakes(t *testing.T) {
	t.Parallel()
	emulatortest.InProcess(t, "it looks at all containers of a database of its own")
	var client *azcosmos.Client
	emulatortest.FX(t, fx.Options(Module, denorm.Module, fx.Populate(&client)))
	database, err := client.NewDatabase("notes")
	if err != nil {
		t.Fatal(err)
	}
	made := map[string]string{}
	pager := database.NewQueryContainersPager("SELECT * FROM c", nil)
	for pager.More() {
		page, err := pager.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range page.Containers {
			key := c.PartitionKeyDefinition
			made[c.ID] = strings.Join(key.Paths, " ")
			if key.Version != 2 || c.DefaultTimeToLive == nil || *c.DefaultTimeToLive != -1 {
				t.Errorf("%s: version %d, ttl %v", c.ID, key.Version, c.DefaultTimeToLive)
			}
		}
	}
	if len(made) != 3 {
		t.Fatal(made)
	}
	for file, container := range map[string]string{
		"main.tf":    `"([\w-]+)"\s+= \[(.*)\]`,
		"main.bicep": `name: '([\w-]+)', paths: \[(.*)\]`,
	} {
		text, err := os.ReadFile(filepath.Join(infrastructure, file))
		if err != nil {
			t.Fatal(err)
		}
		described := map[string]string{}
		for _, m := range regexp.MustCompile(container).FindAllStringSubmatch(string(text), -1) {
			described[m[1]] = strings.Join(strings.FieldsFunc(m[2], func(r rune) bool { return strings.ContainsRune(`"', `, r) }), " ")
		}
		if !maps.Equal(described, made) {
			t.Errorf("%s describes %v, Provision makes %v", file, described, made)
		}
	}
}

// Whether a description can be parsed is for its own tool to say, where there is one.
func TestInfrastructureParses(t *testing.T) {
	t.Parallel()
	for tool, args := range map[string][]string{
		"bash":      {"-n", filepath.Join(infrastructure, "create.sh")},
		"terraform": {"fmt", "-check", infrastructure},
		"bicep":     {"lint", filepath.Join(infrastructure, "main.bicep")},
	} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			path, err := exec.LookPath(tool)
			if err != nil {
				t.Skipf("%s is not installed here", tool)
			}
			if out, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
