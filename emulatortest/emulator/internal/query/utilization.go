package query

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
)

// Utilization says which indexes a query uses, and which it could use if the policy had them.
type Utilization struct {
	Single, PotentialSingle       []string   // such as /a/b/?
	Composite, PotentialComposite [][]string // such as /a ASC
}

// Utilize looks at the properties that WHERE filters and ORDER BY sorts by.
func Utilize(q *sql.Query, p *Policy) Utilization {
	var u Utilization
	note := func(path []string) {
		list := &u.Single
		if !p.indexed(path) {
			list = &u.PotentialSingle
		}
		if spec := joinPath(path) + "/?"; !slices.Contains(*list, spec) {
			*list = append(*list, spec)
		}
	}
	var equal, others []compositePath
	for _, c := range predicates(q) {
		for _, path := range c.paths {
			note(path)
		}
		if len(c.paths) != 1 {
			continue
		}
		key := compositePath{path: joinPath(c.paths[0])}
		switch {
		case slices.Contains(equal, key) || slices.Contains(others, key):
		case c.equality:
			equal = append(equal, key)
		default:
			others = append(others, key)
		}
	}
	var sort []compositePath
	for _, item := range q.OrderBy {
		if _, steps, ok := sql.ResolvePath(item.Expr); ok {
			sort = append(sort, compositePath{path: joinPath(stepNames(steps)), descending: item.Descending})
			if len(q.OrderBy) == 1 {
				note(stepNames(steps))
			}
		}
	}
	u.noteComposite(p, sort)
	// Equalities and at most one other condition, or the sort, could share a composite index, equalities first.
	switch {
	case len(sort) > 0:
		u.noteComposite(p, append(slices.Clone(equal), sort...))
	case len(others) <= 1:
		u.noteComposite(p, p.directed(append(slices.Clone(equal), others...)))
	default:
		u.noteComposite(p, p.directed(equal))
	}
	return u
}

// noteComposite lists a composite index over these paths as used or as possible. One path needs none.
func (u *Utilization) noteComposite(p *Policy, keys []compositePath) {
	if len(keys) < 2 {
		return
	}
	list := &u.PotentialComposite
	if index := p.composite(keys); index != nil {
		keys, list = index, &u.Composite
	}
	specs := make([]string, len(keys))
	for i, k := range keys {
		direction := " ASC"
		if k.descending {
			direction = " DESC"
		}
		specs[i] = k.path + direction
	}
	if !slices.ContainsFunc(*list, func(have []string) bool { return slices.Equal(have, specs) }) {
		*list = append(*list, specs)
	}
}

// The impact that both forms report for every index: the emulator has no statistics to tell impacts apart.
const impactScore = "High"

type singleV1 struct {
	FilterExpression string
	IndexSpec        string
	FilterPreciseSet bool
	IndexPreciseSet  bool
	IndexImpactScore string
}

type compositeV1 struct {
	IndexSpecs       []string
	IndexPreciseSet  bool
	IndexImpactScore string
}

// HeaderV1 is the x-ms-cosmos-index-utilization that x-ms-cosmos-populateindexmetrics asks for: JSON in base64.
func (u Utilization) HeaderV1() (string, error) {
	singles := func(specs []string) []singleV1 {
		list := make([]singleV1, len(specs))
		for i, s := range specs {
			list[i] = singleV1{IndexSpec: s, FilterPreciseSet: true, IndexPreciseSet: true, IndexImpactScore: impactScore}
		}
		return list
	}
	composites := func(specs [][]string) []compositeV1 {
		list := make([]compositeV1, len(specs))
		for i, s := range specs {
			list[i] = compositeV1{IndexSpecs: s, IndexPreciseSet: true, IndexImpactScore: impactScore}
		}
		return list
	}
	text, err := json.Marshal(struct {
		UtilizedSingleIndexes, PotentialSingleIndexes       []singleV1
		UtilizedCompositeIndexes, PotentialCompositeIndexes []compositeV1
	}{singles(u.Single), singles(u.PotentialSingle), composites(u.Composite), composites(u.PotentialComposite)})
	return base64.StdEncoding.EncodeToString(text), err
}

type indexesV2 struct {
	SingleIndexes    []singleV2
	CompositeIndexes []compositeV2
}

type singleV2 struct{ IndexSpec string }

type compositeV2 struct{ IndexSpecs []string }

// HeaderV2 is the same header for x-ms-cosmos-populateindexmetrics-V2: JSON, percent-encoded.
func (u Utilization) HeaderV2() (string, error) {
	indexes := func(singles []string, composites [][]string) indexesV2 {
		list := indexesV2{SingleIndexes: make([]singleV2, len(singles)), CompositeIndexes: make([]compositeV2, len(composites))}
		for i, s := range singles {
			list.SingleIndexes[i].IndexSpec = s
		}
		for i, c := range composites {
			list.CompositeIndexes[i].IndexSpecs = c
		}
		return list
	}
	text, err := json.Marshal(struct {
		UtilizedIndexes, PotentialIndexes indexesV2
	}{indexes(u.Single, u.Composite), indexes(u.PotentialSingle, u.PotentialComposite)})
	return url.PathEscape(string(text)), err
}
