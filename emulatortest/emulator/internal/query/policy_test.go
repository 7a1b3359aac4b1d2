package query_test

import (
	"encoding/base64"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/eval"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/query"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

const (
	everything = `{"indexingMode": "consistent", "includedPaths": [{"path": "/*"}], "excludedPaths": [{"path": "/\"_etag\"/?"}]}`
	some       = `{"indexingMode": "consistent", "includedPaths": [{"path": "/a/?"}, {"path": "/b/*"}, {"path": "/\"x y\"/?"}],
		"excludedPaths": [{"path": "/*"}, {"path": "/b/secret/*"}],
		"compositeIndexes": [[{"path": "/a", "order": "ascending"}, {"path": "/b/c", "order": "descending"}]]}`
	none = `{"indexingMode": "none", "automatic": false}`
)

func policy(t testing.TB, text string) *query.Policy {
	t.Helper()
	v, err := value.ParseString(text)
	if err != nil {
		t.Fatal(err)
	}
	return query.ParsePolicy(v)
}

func TestOrderByNeedsIndexes(t *testing.T) {
	t.Parallel()
	const excluded, composite = "excluded", "composite index"
	cases := []struct{ policy, order, refused string }{
		{everything, `c.anything`, ""},
		{everything, `c._etag`, excluded},
		{everything, `c.a, c.b`, composite},
		{some, `c.a`, ""},
		{some, `c.a.deeper`, excluded},
		{some, `c.other`, excluded},
		{some, `c.b.c.d`, ""},
		{some, `c.b.secret`, excluded},
		{some, `c["x y"]`, ""},
		{some, `c.id`, ""},
		{none, `c._ts`, excluded},
		{some, `c.a, c.b.c DESC`, ""},
		{some, `c.a DESC, c.b.c`, ""},
		{some, `c.a, c.b.c`, composite},
		{some, `c.b.c DESC, c.a`, composite},
		{none, `c.a`, excluded},
	}
	for _, c := range cases {
		req := request(t, `SELECT * FROM c ORDER BY `+c.order, items(t))
		req.Policy = policy(t, c.policy)
		_, err := query.Run(t.Context(), req)
		var refused *eval.Error
		switch {
		case c.refused == "" && err != nil:
			t.Errorf("%s: %v", c.order, err)
		case c.refused != "" && (!errors.As(err, &refused) || !strings.Contains(refused.Message, c.refused)):
			t.Errorf("%s: got %v, want a refusal that says %q", c.order, err, c.refused)
		}
	}
}

func TestUtilization(t *testing.T) {
	t.Parallel()
	cases := []struct {
		where, single, potential, composite, potentialComposite string
	}{
		{`WHERE c.a = 1`, "/a/?", "", "", ""},
		{`WHERE 1 < c.a AND c.a < @n`, "/a/?", "", "", ""},
		{`WHERE c.other = 1`, "", "/other/?", "", ""},
		{`WHERE c.a = 1 AND c.b.c > 2`, "/a/? /b/c/?", "", "/a ASC,/b/c DESC", ""},
		{`WHERE c.a = c.b.c`, "", "", "", ""},
		{`WHERE c.a = 1 AND LOWER(c.b.c) = "x"`, "/a/?", "", "", ""},
		{`WHERE ARRAY_CONTAINS(c.b.tags, "x") OR STARTSWITH(c.a, "y")`, "/b/tags/[]/? /a/?", "", "", ""},
		{`WHERE NOT IS_DEFINED(c.a) AND c["x y"] IN (1, 2)`, `/a/? /"x y"/?`, "", "", ""},
		{`WHERE EXISTS(SELECT VALUE t FROM t IN c.b.tags WHERE t = 1)`, "", "", "", ""},
		{`ORDER BY c.a, c.b.c DESC`, "", "", "/a ASC,/b/c DESC", ""},
		{`WHERE c.b.c = 1 ORDER BY c.a`, "/b/c/? /a/?", "", "", "/b/c ASC,/a ASC"},
		{``, "", "", "", ""},
	}
	join := func(lists [][]string) string {
		parts := make([]string, len(lists))
		for i, l := range lists {
			parts[i] = strings.Join(l, ",")
		}
		return strings.Join(parts, " ")
	}
	for _, c := range cases {
		u := query.Utilize(parse(t, `SELECT * FROM c `+c.where), policy(t, some))
		if got := strings.Join(u.Single, " "); got != c.single {
			t.Errorf("%s: single %q, want %q", c.where, got, c.single)
		}
		if got := strings.Join(u.PotentialSingle, " "); got != c.potential {
			t.Errorf("%s: potential single %q, want %q", c.where, got, c.potential)
		}
		if got := join(u.Composite); got != c.composite {
			t.Errorf("%s: composite %q, want %q", c.where, got, c.composite)
		}
		if got := join(u.PotentialComposite); got != c.potentialComposite {
			t.Errorf("%s: potential composite %q, want %q", c.where, got, c.potentialComposite)
		}
	}
}

func TestUtilizationHeaders(t *testing.T) {
	t.Parallel()
	u := query.Utilize(parse(t, `SELECT * FROM c WHERE c.x = 1`), nil)
	first, err := u.HeaderV1()
	if err != nil {
		t.Fatal(err)
	}
	text, err := base64.StdEncoding.DecodeString(first)
	want := `{"UtilizedSingleIndexes":[{"FilterExpression":"","IndexSpec":"/x/?","FilterPreciseSet":true,"IndexPreciseSet":true,` +
		`"IndexImpactScore":"High"}],"PotentialSingleIndexes":[],"UtilizedCompositeIndexes":[],"PotentialCompositeIndexes":[]}`
	if err != nil || string(text) != want {
		t.Errorf("V1: got %s, %v; want %s", text, err, want)
	}
	second, err := u.HeaderV2()
	if err != nil {
		t.Fatal(err)
	}
	plain, err := url.PathUnescape(second)
	want = `{"UtilizedIndexes":{"SingleIndexes":[{"IndexSpec":"/x/?"}],"CompositeIndexes":[]},"PotentialIndexes":{"SingleIndexes":[],"CompositeIndexes":[]}}`
	if err != nil || plain != want {
		t.Errorf("V2: got %s, %v; want %s", plain, err, want)
	}
}

// TestRetrieved checks that only items which an index would not have ruled out count as loaded.
func TestRetrieved(t *testing.T) {
	t.Parallel()
	source := items(t, `{"a": 1, "b": {"c": 1}, "z": 1}`, `{"a": 1, "b": {"c": 2}, "z": 2}`, `{"a": 2, "b": {"c": 3}, "z": 1}`)
	cases := []struct {
		query             string
		retrieved, output int
	}{
		{`SELECT * FROM c`, 3, 3},
		{`SELECT * FROM c WHERE c.a = 1`, 2, 2},
		{`SELECT * FROM c WHERE c.a = 1 AND c.z = 1`, 2, 1},
		{`SELECT * FROM c WHERE c.z = 1`, 3, 2},
		{`SELECT VALUE COUNT(1) FROM c WHERE c.b.c > 2`, 1, 1},
		{`SELECT VALUE 1`, 0, 1},
	}
	for _, c := range cases {
		req := request(t, c.query, source)
		req.Policy = policy(t, some)
		page, err := query.Run(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if m := page.Metrics; m.RetrievedDocuments != c.retrieved || m.OutputDocuments != c.output {
			t.Errorf("%s: retrieved %d, output %d; want %d, %d", c.query, m.RetrievedDocuments, m.OutputDocuments, c.retrieved, c.output)
		}
	}
}

func TestMetricsHeader(t *testing.T) {
	t.Parallel()
	m := query.Metrics{RetrievedDocuments: 4, RetrievedBytes: 400, OutputDocuments: 1, OutputBytes: 90}
	got := m.Header()
	for _, want := range []string{"totalExecutionTimeInMs=0.00;", ";retrievedDocumentCount=4;", ";outputDocumentSize=90;", ";indexUtilizationRatio=0.25"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in %s", want, got)
		}
	}
	for field := range strings.SplitSeq(got, ";") {
		if name, number, ok := strings.Cut(field, "="); !ok || name == "" || number == "" {
			t.Errorf("malformed field %q", field)
		}
	}
}
