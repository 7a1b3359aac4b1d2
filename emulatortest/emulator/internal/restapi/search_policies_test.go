package restapi

import (
	"fmt"
	"strings"
	"testing"
)

func searchContainer(embedding, index, more string) string {
	return `{"id":"x","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2},` + more +
		`"vectorEmbeddingPolicy":{"vectorEmbeddings":[` + embedding + `]},"indexingPolicy":{"vectorIndexes":[` + index + `]}}`
}

func embedding(dataType string, dimensions int, function string) string {
	return fmt.Sprintf(`{"path":"/v","dataType":%q,"dimensions":%d,"distanceFunction":%q}`, dataType, dimensions, function)
}

func TestSearchPolicies(t *testing.T) {
	t.Parallel()
	good := embedding("float32", 256, "euclidean")
	index := func(kind, more string) string { return `{"path":"/v","type":"` + kind + `"` + more + `}` }
	for name, c := range map[string]struct{ body, want string }{
		"flat":                     {searchContainer(good, index("flat", ""), ""), ""},
		"quantized":                {searchContainer(embedding("int8", 4096, "dotproduct"), index("quantizedFlat", `,"quantizationByteSize":256`), ""), ""},
		"diskANN":                  {searchContainer(embedding("float16", 1536, "cosine"), index("diskANN", `,"indexingSearchListSize":25`), ""), ""},
		"defaults":                 {searchContainer(`{"path":"/v"}`, "", ""), ""},
		"flat at its limit":        {searchContainer(embedding("uint8", 505, "cosine"), index("flat", ""), ""), ""},
		"flat beyond its limit":    {searchContainer(embedding("float32", 506, "cosine"), index("flat", ""), ""), "maximum supported value 505"},
		"data type":                {searchContainer(embedding("float33", 256, "cosine"), "", ""), "Vector Embedding Policy has an invalid DataType:float33"},
		"function":                 {searchContainer(embedding("float32", 256, "handMeasured"), "", ""), "The Vector Embedding Policy has an invalid DistanceFunction:handMeasured"},
		"dimensions":               {searchContainer(embedding("float32", 8000, "cosine"), "", ""), "Vector Embedding Policy has Dimensions:8000 which is more than the maximum supported value"},
		"negative dimensions":      {searchContainer(embedding("float32", -1, "cosine"), "", ""), "The Vector Embedding Policy has Dimensions:-1"},
		"wildcard":                 {searchContainer(`{"path":"/a/[]/v"}`, "", ""), "invalid Path"},
		"path twice":               {searchContainer(good+","+good, "", ""), "more than once"},
		"index type":               {searchContainer(good, index("notFlat", ""), ""), "Index Type::notFlat is invalid"},
		"no embedding":             {searchContainer("", index("flat", ""), ""), "The Vector Indexing Policy's path::/v not matching in Embedding's path."},
		"quantization":             {searchContainer(good, index("quantizedFlat", `,"quantizationByteSize":0`), ""), "QuantizationByteSize value :: 0 is out of range. The allowed range is between 1 and 256."},
		"search list":              {searchContainer(good, index("diskANN", `,"indexingSearchListSize":5`), ""), "IndexingSearchListSize value :: 5 is out of range. The allowed range is between 25 and 500."},
		"full text":                {strings.Replace(searchContainer("", "", `"fullTextPolicy":{"defaultLanguage":"en-US","fullTextPaths":[{"path":"/t","language":"en-US"}]},`), `"vectorIndexes":[]`, `"fullTextIndexes":[{"path":"/t"}]`, 1), ""},
		"language":                 {searchContainer("", "", `"fullTextPolicy":{"defaultLanguage":"xx-XX"},`), "unsupported language xx-XX"},
		"full text without policy": {strings.Replace(searchContainer("", "", ""), `"vectorIndexes":[]`, `"fullTextIndexes":[{"path":"/t"}]`, 1), "does not match the path specified in the Full Text Policy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := setup(t).do(t, "POST", "/dbs/db/colls", c.body)
			if c.want == "" && a.Status != 201 || c.want != "" && (a.Status != 400 || !strings.Contains(string(a.Body), c.want)) {
				t.Errorf("got %d %s, want %q", a.Status, a.Body, c.want)
			}
		})
	}
}

func TestVectorPoliciesStay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	good := embedding("float32", 256, "euclidean")
	flat := `{"path":"/v","type":"flat"}`
	if a := b.do(t, "POST", "/dbs/db/colls", searchContainer(good, flat, "")); a.Status != 201 {
		t.Fatalf("got %d %s", a.Status, a.Body)
	}
	for _, c := range []struct{ name, body, want string }{
		{"another type", searchContainer(good, strings.Replace(flat, "flat", "quantizedFlat", 1), ""), "Paths in existing vector indexing policy cannot be modified in Collection Replace. They can only be added or removed."},
		{"another function", searchContainer(embedding("float32", 256, "cosine"), flat, ""), "embedding policy cannot be modified"},
		{"without embedding", searchContainer("", flat, ""), "The Vector Indexing Policy's path::/v not matching in Embedding's path."},
		{"the same", searchContainer(good, flat, ""), ""},
		{"without index", searchContainer(good, "", ""), ""},
	} {
		a := b.do(t, "PUT", "/dbs/db/colls/x", c.body)
		if c.want == "" && a.Status != 200 || c.want != "" && (a.Status != 400 || !strings.Contains(string(a.Body), c.want)) {
			t.Errorf("%s: got %d %s, want %q", c.name, a.Status, a.Body, c.want)
		}
	}
}
