package store

import (
	"math"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// What the service takes in policies about vectors. The refusals are in its words as far as SDKs' tests against it quote
// them; those of indexes with too many dimensions and of changed embeddings are worded here.
const (
	maxDimensions     = 4096
	maxFlatDimensions = 505
	maxQuantization   = 256
	minSearchList     = 25
	maxSearchList     = 500
)

// languages are those of full-text policies.
func languages() []string {
	return []string{"en-US", "de-DE", "es-ES", "fr-FR", "it-IT", "pt-BR", "pt-PT"}
}

// checkSearch refuses policies about vectors and full text that the service refuses.
func checkSearch(v value.Value) error {
	dimensions, err := checkEmbeddings(v.Get("vectorEmbeddingPolicy"))
	if err != nil {
		return err
	}
	if err := checkVectorIndexes(v.At("indexingPolicy", "vectorIndexes"), dimensions); err != nil {
		return err
	}
	return checkFullText(v.Get("fullTextPolicy"), v.At("indexingPolicy", "fullTextIndexes"))
}

// checkEmbeddings returns the dimensions of the vectors at each path.
func checkEmbeddings(policy value.Value) (dimensions map[string]int, err error) {
	list, _ := policy.Get("vectorEmbeddings").Array()
	dimensions = make(map[string]int, len(list))
	for _, e := range list {
		path, _ := e.Get("path").Str()
		if _, err := pathTokens(path); err != nil || strings.ContainsAny(path, "*[]") {
			return nil, badRequest("The Vector Embedding Policy has an invalid Path:%s.", path)
		}
		if _, twice := dimensions[path]; twice {
			return nil, badRequest("The Vector Embedding Policy has the Path:%s more than once.", path)
		}
		if dataType, given := textOf(e, "dataType"); given && !isOneOf(dataType, "float32", "float16", "uint8", "int8") {
			return nil, badRequest("The Vector Embedding Policy has an invalid DataType:%s.", dataType)
		}
		if function, given := textOf(e, "distanceFunction"); given && !isOneOf(function, "cosine", "dotproduct", "euclidean") {
			return nil, badRequest("The Vector Embedding Policy has an invalid DistanceFunction:%s.", function)
		}
		size, given := e.Get("dimensions").Number()
		switch {
		case !given && !e.Get("dimensions").IsUndefined(), given && (size < 1 || size != math.Trunc(size)):
			return nil, badRequest("The Vector Embedding Policy has Dimensions:%s which is less than the minimum supported value 1.", e.Get("dimensions"))
		case size > maxDimensions:
			return nil, badRequest("The Vector Embedding Policy has Dimensions:%s which is more than the maximum supported value %d.", e.Get("dimensions"), maxDimensions)
		}
		dimensions[path] = int(size)
	}
	return dimensions, nil
}

// textOf returns a member that should be a string; given is false when it is left out.
func textOf(v value.Value, name string) (text string, given bool) {
	member := v.Get(name)
	if member.IsUndefined() {
		return "", false
	}
	if text, ok := member.Str(); ok {
		return text, true
	}
	return member.String(), true
}

func isOneOf(name string, names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}

func checkVectorIndexes(indexes value.Value, dimensions map[string]int) error {
	list, _ := indexes.Array()
	for _, index := range list {
		path, _ := index.Get("path").Str()
		kind, _ := textOf(index, "type")
		if !isOneOf(kind, "flat", "quantizedFlat", "diskANN") {
			return badRequest("The Vector Indexing Policy's Index Type::%s is invalid.", kind)
		}
		for _, option := range []struct {
			name, title string
			low, high   float64
		}{
			{"quantizationByteSize", "QuantizationByteSize", 1, maxQuantization},
			{"indexingSearchListSize", "IndexingSearchListSize", minSearchList, maxSearchList},
		} {
			given := index.Get(option.name)
			if size, ok := given.Number(); ok && (size < option.low || size > option.high) {
				return badRequest("%s value :: %s is out of range. The allowed range is between %v and %v.", option.title, given, option.low, option.high)
			}
		}
		size, known := dimensions[path]
		if !known {
			return badRequest("The Vector Indexing Policy's path::%s not matching in Embedding's path.", path)
		}
		if isOneOf(kind, "flat") && size > maxFlatDimensions {
			return badRequest("The Vector Indexing Policy's path::%s has Dimensions:%d which is more than the maximum supported value %d for Index Type::%s.",
				path, size, maxFlatDimensions, kind)
		}
	}
	return nil
}

func checkFullText(policy, indexes value.Value) error {
	declared := map[string]bool{}
	if language, given := textOf(policy, "defaultLanguage"); given && !slices.Contains(languages(), language) {
		return unsupportedLanguage(language)
	}
	paths, _ := policy.Get("fullTextPaths").Array()
	for _, p := range paths {
		path, _ := p.Get("path").Str()
		if _, err := pathTokens(path); err != nil {
			return badRequest("The Full Text Policy contains an invalid Path: %s.", path)
		}
		if language, given := textOf(p, "language"); given && !slices.Contains(languages(), language) {
			return unsupportedLanguage(language)
		}
		declared[path] = true
	}
	list, _ := indexes.Array()
	for _, index := range list {
		if path, _ := index.Get("path").Str(); !declared[path] {
			return badRequest("The path of the Full Text Index %s does not match the path specified in the Full Text Policy.", path)
		}
	}
	return nil
}

func unsupportedLanguage(language string) error {
	return badRequest("The Full Text Policy contains an unsupported language %s. Supported languages are: %s.", language, strings.Join(languages(), ", "))
}

// keepVectors refuses what the replace of a container may not change: the embedding at a path, and the type of its index.
// Both can be added and removed.
func keepVectors(before, after value.Value) error {
	indexes := membersByPath(after.At("indexingPolicy", "vectorIndexes"))
	for path, index := range membersByPath(before.At("indexingPolicy", "vectorIndexes")) {
		if now, still := indexes[path]; still && !value.Equal(now.Get("type"), index.Get("type")) {
			return badRequest("Paths in existing vector indexing policy cannot be modified in Collection Replace. They can only be added or removed.")
		}
	}
	embeddings := membersByPath(after.At("vectorEmbeddingPolicy", "vectorEmbeddings"))
	for path, embedding := range membersByPath(before.At("vectorEmbeddingPolicy", "vectorEmbeddings")) {
		if now, still := embeddings[path]; still && !value.Equal(now, embedding) {
			return badRequest("Paths in existing vector embedding policy cannot be modified in Collection Replace. They can only be added or removed.")
		}
	}
	return nil
}

func membersByPath(v value.Value) map[string]value.Value {
	list, _ := v.Array()
	byPath := make(map[string]value.Value, len(list))
	for _, e := range list {
		path, _ := e.Get("path").Str()
		byPath[path] = e
	}
	return byPath
}
