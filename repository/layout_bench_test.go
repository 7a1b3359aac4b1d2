package repository_test

import (
	"bytes"
	"testing"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/layout"
)

// layoutArm is a repository of products in one form.
type layoutArm struct {
	name  string
	stub  *stub
	works []comparison
}

// layoutArms are Grove's own form, the same one declared, and one with other names.
func layoutArms(t testing.TB) []layoutArm {
	t.Helper()
	arms := []layoutArm{{name: "default", stub: newStub(1000)}, {name: "declared", stub: newStub(1000)}, {name: "mapped", stub: newStub(1000)}}
	layouts := []*layout.Layout{nil, {
		Key:   []layout.KeySource{layout.FromTenant(), layout.FromEntityType()},
		Names: map[string]string{"tenantId": "tenantId", "entityType": "entityType", "name": "name"},
	}, {
		Names: map[string]string{"tenantId": "tenant_id", "entityType": "type", "name": "Name"},
	}}
	for i := range arms {
		arm := &arms[i]
		cfg := repository.Config{Layout: layouts[i]}
		if arm.name == "mapped" {
			cfg.PartitionKey = []string{"/tenant_id", "/type"}
			for canonical, stored := range layouts[i].Names {
				from, to := []byte(`"`+canonical+`":`), []byte(`"`+stored+`":`)
				arm.stub.document = bytes.Replace(arm.stub.document, from, to, 1)
				arm.stub.page = bytes.ReplaceAll(arm.stub.page, from, to)
			}
		}
		products, err := repository.New[Product](arm.stub.container(t, repository.ClientOptions(nil)), cfg)
		must(t, err)
		arm.works = comparisons(t, arm.stub, products.In("acme"))
	}
	return arms
}

// BenchmarkLayouts does the same work in Grove's own form, in the same one
// declared as a layout, in one with other names, and by hand over the raw SDK,
// in turns over the same stub, as [BenchmarkComparedWithTheSDK] does.
//
//	go test ./repository -run '^$' -bench Layouts -benchtime 8x
func BenchmarkLayouts(b *testing.B) {
	arms := layoutArms(b)
	for i, work := range arms[0].works {
		b.Run(work.name, func(b *testing.B) {
			results := make([]measured, len(arms))
			var byHand measured
			for range b.N {
				for n, arm := range arms {
					results[n].best(b, work.each, arm.works[i].grove)
				}
				byHand.best(b, work.each, work.byHand)
			}
			b.ReportMetric(0, "ns/op")
			for n, arm := range arms {
				b.ReportMetric(results[n].micros, arm.name+"-µs")
				b.ReportMetric(results[n].allocations, arm.name+"-allocs")
			}
			b.ReportMetric(byHand.micros, "sdk-µs")
			b.ReportMetric(byHand.allocations, "sdk-allocs")
		})
	}
}

// TestTheDefaultLayoutPaysForNoMapping: what mapping costs is allocations: a
// document that is written again, a path, a text. In Grove's own form there is
// none of them, and declaring that form changes nothing. The bounds are what a
// verb makes beside azcosmos and encoding/json, whatever their version.
//
//nolint:paralleltest // testing.AllocsPerRun refuses to run beside other tests
func TestTheDefaultLayoutPaysForNoMapping(t *testing.T) {
	if underRace {
		t.Skip("pools lose what they hold at random, so that allocations vary")
	}
	arms := layoutArms(t)
	most := map[string]float64{"Create": 3, "Save": -4, "Upsert": 3, "Patch": 20, "Batch100": -1600, "Get": -36, "Query1000": -36_000}
	for i, work := range arms[0].works {
		bound, bounded := most[work.name]
		if !bounded {
			continue // SaveAll is batches
		}
		runs := min(work.each, 10)
		allocations := make([]float64, len(arms))
		for n, arm := range arms {
			allocations[n] = testing.AllocsPerRun(runs, func() { must(t, arm.works[i].grove(t.Context())) })
		}
		byHand := testing.AllocsPerRun(runs, func() { must(t, work.byHand(t.Context())) })
		t.Logf("%s: default %.0f, declared %.0f, mapped %.0f, by hand %.0f allocations", work.name, allocations[0], allocations[1], allocations[2], byHand)
		if d, unlike := allocations[0]-allocations[1], 2+allocations[0]/1000; d > unlike || d < -unlike { // buffers that the collector took
			t.Errorf("%s: Grove's form makes %.0f allocations, and %.0f where it is declared", work.name, allocations[0], allocations[1])
		}
		if allocations[2] < allocations[0]+2 {
			t.Errorf("%s: a mapped form makes %.0f allocations, and Grove's %.0f: it maps too, or this test sees no mapping", work.name, allocations[2], allocations[0])
		}
		if allocations[0] > byHand+bound {
			t.Errorf("%s makes %.0f allocations, by hand %.0f: the bound is %.0f more", work.name, allocations[0], byHand, bound)
		}
	}
}
