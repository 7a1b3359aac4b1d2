package registry_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/registry"
)

func newClient(t testing.TB) *azcosmos.Client {
	t.Helper()
	return emulatortest.Client(t)
}

func newPlan(t testing.TB, cfg registry.Config, entities ...registry.Declaration) *registry.Plan {
	t.Helper()
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	plan, err := registry.NewPlan(cfg, entities)
	must(t, err)
	return plan
}

func TestProvisionIsIdempotent(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	id := emulatortest.DatabaseID(t, client, "registry")
	plan := newPlan(t, sharedConfig(id), registry.EntityOf[Person](), registry.EntityOf[Lookup](registry.In("lookups")))

	_, err := registry.Check(t.Context(), client, plan)
	if err == nil || !strings.Contains(err.Error(), `database "`+id+`"`) || !strings.Contains(err.Error(), "Config.Provision") {
		t.Fatalf("checking an empty account: %v", err)
	}
	for range 3 {
		differences, err := registry.Provision(t.Context(), client, plan)
		if err != nil || len(differences) != 0 {
			t.Fatalf("provision: %v, %v", differences, err)
		}
	}
	if differences, err := registry.Check(t.Context(), client, plan); err != nil || len(differences) != 0 {
		t.Fatalf("check: %v, %v", differences, err)
	}
	container, err := client.NewContainer(id, "lookups")
	must(t, err)
	live, err := container.Read(t.Context(), nil)
	must(t, err)
	p := live.ContainerProperties
	if p.PartitionKeyDefinition.Version != 2 || p.PartitionKeyDefinition.Kind != azcosmos.PartitionKeyKindMultiHash || *p.DefaultTimeToLive != 3600 || len(p.UniqueKeyPolicy.UniqueKeys) != 1 {
		t.Errorf("the container came to be as %+v", p)
	}
}

// Every process of a service starts at once on the first day of an account.
func TestManyClientsProvisionOneEmptyAccount(t *testing.T) {
	t.Parallel()
	account := emulatortest.New(t)
	plan := newPlan(t, sharedConfig(emulatortest.DatabaseID(t, account.Client(nil), "registry")), registry.EntityOf[Person](), registry.EntityOf[Lookup](registry.In("lookups")))
	var wg sync.WaitGroup
	for range 16 {
		client := account.Client(nil)
		wg.Go(func() {
			if differences, err := registry.Provision(t.Context(), client, plan); err != nil || len(differences) != 0 {
				t.Errorf("provision: %v, %v", differences, err)
			}
		})
	}
	wg.Wait()
}

func TestProcessesProvisionOneEmptyAccount(t *testing.T) {
	t.Parallel()
	server := emulatortest.Serve(t)
	program, err := os.Executable()
	must(t, err)
	const processes = 3
	var output [processes]bytes.Buffer
	commands := make([]*exec.Cmd, processes)
	for i := range commands {
		commands[i] = exec.CommandContext(t.Context(), program)
		commands[i].Env = append(os.Environ(), endpointToProvision+"="+server.Endpoint(), "GROVE_TEST_PROVISION_KEY="+server.Key())
		commands[i].Stdout, commands[i].Stderr = &output[i], &output[i]
		must(t, commands[i].Start())
	}
	for i, c := range commands {
		if err := c.Wait(); err != nil {
			t.Errorf("process %d: %v\n%s", i, err, &output[i])
		}
	}
	plan := newPlan(t, sharedConfig("shared"), registry.EntityOf[Person](), registry.EntityOf[Lookup](registry.In("lookups")))
	if differences, err := registry.Check(t.Context(), server.Client(nil), plan); err != nil || len(differences) != 0 {
		t.Errorf("afterwards: %v, %v", differences, err)
	}
}

func TestDrift(t *testing.T) {
	t.Parallel()
	seconds := func(n int32) *int32 { return &n }
	key := azcosmos.PartitionKeyDefinition{Paths: []string{"/tenantId", "/lookupType"}, Version: 2}
	composite := func(order azcosmos.CompositeIndexOrder) *azcosmos.IndexingPolicy {
		return &azcosmos.IndexingPolicy{
			Automatic: true, IndexingMode: azcosmos.IndexingModeConsistent,
			IncludedPaths:    []azcosmos.IncludedPath{{Path: "/*"}},
			CompositeIndexes: [][]azcosmos.CompositeIndex{{{Path: "/lookupType", Order: azcosmos.CompositeIndexAscending}, {Path: "/rank", Order: order}}},
		}
	}
	tests := []struct {
		name       string
		live       azcosmos.ContainerProperties
		registered registry.Container
		property   string // empty for none
		values     [2]string
		fatal      bool
	}{
		{"as registered", azcosmos.ContainerProperties{PartitionKeyDefinition: key}, registry.Container{}, "", [2]string{}, false},
		{"another key", azcosmos.ContainerProperties{PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/tenantId"}, Version: 2}}, registry.Container{}, "partition key", [2]string{"/tenantId,/lookupType", "/tenantId"}, true},
		{"levels in another order", azcosmos.ContainerProperties{PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/lookupType", "/tenantId"}, Version: 2}}, registry.Container{}, "partition key", [2]string{"/tenantId,/lookupType", "/lookupType,/tenantId"}, true},
		{"no time to live", azcosmos.ContainerProperties{PartitionKeyDefinition: key}, registry.Container{DefaultTTL: time.Hour}, "time to live", [2]string{"1h0m0s", "off"}, true},
		{"no time to live, and none asked for", azcosmos.ContainerProperties{PartitionKeyDefinition: key}, registry.Container{DefaultTTL: registry.TTLOn}, "time to live", [2]string{"on without a default", "off"}, true},
		{"documents disappear", azcosmos.ContainerProperties{PartitionKeyDefinition: key, DefaultTimeToLive: seconds(60)}, registry.Container{}, "time to live", [2]string{"off", "1m0s"}, true},
		{"documents disappear by default", azcosmos.ContainerProperties{PartitionKeyDefinition: key, DefaultTimeToLive: seconds(60)}, registry.Container{DefaultTTL: registry.TTLOn}, "time to live", [2]string{"on without a default", "1m0s"}, true},
		{"on though not needed", azcosmos.ContainerProperties{PartitionKeyDefinition: key, DefaultTimeToLive: seconds(-1)}, registry.Container{}, "time to live", [2]string{"off", "on without a default"}, false},
		{"another default", azcosmos.ContainerProperties{PartitionKeyDefinition: key, DefaultTimeToLive: seconds(60)}, registry.Container{DefaultTTL: time.Hour}, "time to live", [2]string{"1h0m0s", "1m0s"}, false},
		{"no unique key", azcosmos.ContainerProperties{PartitionKeyDefinition: key}, registry.Container{UniqueKeys: [][]string{{"/rank"}}}, "unique keys", [2]string{"(/rank)", "none"}, true},
		{"one unique key too many", azcosmos.ContainerProperties{PartitionKeyDefinition: key, UniqueKeyPolicy: &azcosmos.UniqueKeyPolicy{UniqueKeys: []azcosmos.UniqueKey{{Paths: []string{"/rank"}}}}}, registry.Container{}, "unique keys", [2]string{"none", "(/rank)"}, false},
		{"a unique key's paths in another order", azcosmos.ContainerProperties{PartitionKeyDefinition: key, UniqueKeyPolicy: &azcosmos.UniqueKeyPolicy{UniqueKeys: []azcosmos.UniqueKey{{Paths: []string{"/b", "/a"}}}}}, registry.Container{UniqueKeys: [][]string{{"/a", "/b"}}}, "", [2]string{}, false},
		{"no composite index", azcosmos.ContainerProperties{PartitionKeyDefinition: key}, registry.Container{Indexing: composite(azcosmos.CompositeIndexAscending)}, "composite indexes", [2]string{"(/lookupType ascending, /rank ascending)", "none"}, false},
		{"a composite index in another order", azcosmos.ContainerProperties{PartitionKeyDefinition: key, IndexingPolicy: composite(azcosmos.CompositeIndexDescending)}, registry.Container{Indexing: composite(azcosmos.CompositeIndexAscending)}, "composite indexes", [2]string{"(/lookupType ascending, /rank ascending)", "(/lookupType ascending, /rank descending)"}, false},
		{"the same composite index", azcosmos.ContainerProperties{PartitionKeyDefinition: key, IndexingPolicy: composite(azcosmos.CompositeIndexDescending)}, registry.Container{Indexing: composite(azcosmos.CompositeIndexDescending)}, "", [2]string{}, false},
		{"an index that nobody registered", azcosmos.ContainerProperties{PartitionKeyDefinition: key, IndexingPolicy: composite(azcosmos.CompositeIndexDescending)}, registry.Container{}, "", [2]string{}, false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			client := newClient(t)
			id := emulatortest.DatabaseID(t, client, "registry")
			_, err := client.CreateDatabase(t.Context(), azcosmos.DatabaseProperties{ID: id}, nil)
			must(t, err)
			db, err := client.NewDatabase(id)
			must(t, err)
			tc.live.ID = "lookups"
			_, err = db.CreateContainer(t.Context(), tc.live, nil)
			must(t, err)
			container, err := db.NewContainer("lookups")
			must(t, err)
			before, err := container.Read(t.Context(), nil)
			must(t, err)

			tc.registered.ID, tc.registered.PartitionKey = "lookups", []string{"/tenantId", "/lookupType"}
			if tc.registered.DefaultTTL == 0 {
				tc.registered.DefaultTTL = registry.TTLOff // as in the cases' live containers
			}
			plan := newPlan(t, registry.Config{Database: id, Containers: []registry.Container{tc.registered}}, registry.EntityOf[Lookup](registry.In("lookups")))
			differences, err := registry.Provision(t.Context(), client, plan)

			var drift *registry.DriftError
			if errors.As(err, &drift) != tc.fatal || err != nil && !tc.fatal {
				t.Fatalf("got the error %v", err)
			}
			if tc.property == "" {
				if len(differences) != 0 {
					t.Errorf("got %v", differences)
				}
				return
			}
			if len(differences) != 1 || differences[0].Property != tc.property || [2]string{differences[0].Registered, differences[0].Live} != tc.values {
				t.Fatalf("got %+v", differences)
			}
			if tc.fatal && (!strings.Contains(err.Error(), tc.values[0]) || !strings.Contains(err.Error(), tc.values[1])) {
				t.Errorf("%q does not name both values", err)
			}
			after, err := container.Read(t.Context(), nil)
			must(t, err)
			if *after.ContainerProperties.ETag != *before.ContainerProperties.ETag {
				t.Error("the live container was changed")
			}
		})
	}
}

func TestProvisionOutlastsFailures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tests := []struct {
			name  string
			fault emulator.Fault
		}{
			{"unavailable before", emulator.Answer(http.StatusServiceUnavailable, 0).On(emulator.CreateContainer).Times(2)},
			{"cut after the effect", emulator.Cut().On(emulator.CreateContainer).AfterEffect()},
			{"throttled", emulator.Throttle(time.Second).On(emulator.CreateDatabase).Times(2)},
		}
		for _, tc := range tests {
			account := emulatortest.New(t, emulatortest.WithFault(tc.fault))
			plan := newPlan(t, sharedConfig("shared"), registry.EntityOf[Person](), registry.EntityOf[Lookup](registry.In("lookups")))
			if differences, err := registry.Provision(t.Context(), account.Client(nil), plan); err != nil || len(differences) != 0 {
				t.Errorf("%s: %v, %v", tc.name, differences, err)
			}
		}
	})
}

func TestProvisionWithoutTheRight(t *testing.T) {
	t.Parallel()
	account := emulatortest.New(t, emulatortest.WithFault(emulator.Answer(http.StatusForbidden, 0).On(emulator.CreateDatabase).Keep()))
	_, err := registry.Provision(t.Context(), account.Client(nil), newPlan(t, sharedConfig("shared"), registry.EntityOf[Person]()))
	var response *azcore.ResponseError
	if !errors.As(err, &response) || !strings.Contains(err.Error(), "may not be created") {
		t.Errorf("got %v", err)
	}
}
