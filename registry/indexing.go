package registry

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// etagPath is excluded by the service in every policy, asked or not.
const etagPath = `/"_etag"/?`

// completeIndexing fills what a policy leaves out. A zero Automatic can't be
// told from one that is meant, and means nothing in the consistent mode.
func completeIndexing(p *azcosmos.IndexingPolicy) *azcosmos.IndexingPolicy {
	full := *p
	if full.IndexingMode == "" {
		full.IndexingMode = azcosmos.IndexingModeConsistent
	}
	if full.IndexingMode == azcosmos.IndexingModeNone {
		return &full
	}
	full.Automatic = true
	named := func(path string) bool {
		return slices.ContainsFunc(full.IncludedPaths, func(p azcosmos.IncludedPath) bool { return p.Path == path }) ||
			slices.ContainsFunc(full.ExcludedPaths, func(p azcosmos.ExcludedPath) bool { return p.Path == path })
	}
	// The service refuses a policy in which the root is neither in nor out.
	if !named("/*") {
		if len(full.IncludedPaths) == 0 {
			full.IncludedPaths = []azcosmos.IncludedPath{{Path: "/*"}}
		} else {
			full.ExcludedPaths = append(slices.Clip(full.ExcludedPaths), azcosmos.ExcludedPath{Path: "/*"})
		}
	}
	return &full
}

// indexingParts lists a policy as comparable texts, by what they are; the
// order of paths and indexes has no meaning, that of the paths in a composite
// index has.
func indexingParts(p *azcosmos.IndexingPolicy) map[string][]string {
	parts := map[string][]string{}
	if p == nil {
		return parts
	}
	parts["indexing mode"] = []string{strings.ToLower(string(p.IndexingMode))}
	for _, path := range p.IncludedPaths {
		parts["included paths"] = append(parts["included paths"], path.Path)
	}
	for _, path := range p.ExcludedPaths {
		if path.Path != etagPath {
			parts["excluded paths"] = append(parts["excluded paths"], path.Path)
		}
	}
	for _, index := range p.CompositeIndexes {
		levels := make([]string, len(index))
		for i, level := range index {
			order := level.Order
			if order == "" {
				order = azcosmos.CompositeIndexAscending
			}
			levels[i] = level.Path + " " + string(order)
		}
		parts["composite indexes"] = append(parts["composite indexes"], "("+strings.Join(levels, ", ")+")")
	}
	for _, index := range p.SpatialIndexes {
		parts["spatial indexes"] = append(parts["spatial indexes"], asJSON(index))
	}
	for _, index := range p.VectorIndexes {
		parts["vector indexes"] = append(parts["vector indexes"], asJSON(index))
	}
	for _, index := range p.FullTextIndexes {
		parts["full-text indexes"] = append(parts["full-text indexes"], index.Path)
	}
	for _, list := range parts {
		slices.Sort(list)
	}
	return parts
}

func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error() // plain structs of strings; compared and shown, so an error differs from everything
	}
	return string(text)
}
