package registry_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
)

// The whole run is -kills 25 -documents 5000; the defaults keep everyday runs short.
var (
	kills     = flag.Int("kills", 2, "how often the worker process is killed, for an erase and for an import")
	documents = flag.Int("documents", 600, "how many documents the tenant has")
)

// tenantWork makes the test binary a process that erases or imports a tenant.
const tenantWork = "GROVE_TEST_TENANT"

type tenantAssignment struct{ Endpoint, Key, Tenant, Import string }

func workOnTenant(text string) error {
	var a tenantAssignment
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		return err
	}
	ctx := context.Background()
	client, err := registry.NewClient(ctx, registry.ClientConfig{Endpoint: a.Endpoint, Key: a.Key})
	if err != nil {
		return err
	}
	defer client.Close()
	e, err := openEstate(ctx, client, false)
	if err != nil {
		return err
	}
	if a.Import == "" {
		_, err = e.db.Tenants().Erase(ctx, a.Tenant, nil)
		return err
	}
	f, err := os.Open(a.Import)
	if err != nil {
		return err
	}
	_, err = e.db.Tenants().Import(ctx, a.Tenant, f, nil)
	return errors.Join(err, f.Close())
}

// A worker that erases a tenant and one that imports it are killed at random
// moments and started again. Each time the tenant is gone, or back as it was,
// and the other tenant is as before.
func TestATenantSurvivesTheDeathOfAProcess(t *testing.T) {
	t.Parallel()
	server := emulatortest.Serve(t, emulatortest.Calm()) // it compares exports to the byte
	e := newEstate(t, server.Client(nil))
	e.fill(t, "acme", *documents)
	e.fill(t, "globex", 50)
	before, _ := e.export(t, "acme")
	others, _ := e.export(t, "globex")
	file := filepath.Join(t.TempDir(), "acme.jsonl")
	must(t, os.WriteFile(file, []byte(before+"\n"), 0o600))

	for _, a := range []tenantAssignment{{}, {Import: file}} {
		a.Endpoint, a.Key, a.Tenant = server.Endpoint(), server.Key(), "acme"
		text, err := json.Marshal(a)
		must(t, err)
		want := before
		if a.Import == "" {
			want = ""
		}
		undisturbed, killed := time.Duration(0), 0
		for round := 0; killed < *kills; round++ {
			if round > 20**kills {
				t.Fatalf("only %d kills of %d came before the worker was done", killed, round)
			}
			e.prepareFor(t, a, before)
			begun := time.Now()
			worker := startTenantWorker(t, string(text))
			if undisturbed > 0 {
				doomed := worker.Process // and not the one that takes up its work
				timer := time.AfterFunc(rand.N(undisturbed), func() { _ = doomed.Kill() })
				if worker.Wait() != nil {
					killed++
				} else {
					undisturbed = time.Since(begun)
				}
				timer.Stop()
				worker = startTenantWorker(t, string(text))
			}
			must(t, worker.Wait())
			if undisturbed == 0 {
				undisturbed = time.Since(begun)
			}
			if after, _ := e.export(t, "acme"); after != want {
				t.Fatalf("round %d, import %t: the tenant has %d bytes, want %d, or other ones", round, a.Import != "", len(after), len(want))
			}
			if after, _ := e.export(t, "globex"); after != others {
				t.Fatalf("round %d: the other tenant was touched", round)
			}
		}
		t.Logf("import %t: killed %d times; undisturbed it takes %v", a.Import != "", killed, undisturbed)
	}
}

// prepareFor brings the tenant to where the worker's work begins.
func (e estate) prepareFor(t *testing.T, a tenantAssignment, before string) {
	t.Helper()
	tenants := e.db.Tenants()
	if a.Import != "" {
		_, err := tenants.Erase(t.Context(), a.Tenant, nil)
		must(t, err)
		return
	}
	_, err := tenants.Import(t.Context(), a.Tenant, strings.NewReader(before), nil)
	must(t, err)
}

func startTenantWorker(t *testing.T, assignment string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	worker := exec.Command(self)
	worker.Env = append(os.Environ(), fmt.Sprintf("%s=%s", tenantWork, assignment))
	worker.Stderr = os.Stderr
	must(t, worker.Start())
	return worker
}
