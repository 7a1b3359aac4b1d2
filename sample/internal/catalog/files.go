package catalog

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cosmosgrove/grove/tenantitem"
)

// files is the content of a folder, ready to be saved for a tenant.
type files struct {
	categories []*Category
	tags       []*Tag
	products   []*Product
}

// pair is a line of productTags.jsonl.
type pair struct {
	ProductID string              `json:"productId"`
	TagID     tenantitem.Ref[Tag] `json:"productTagId"`
}

func read(folder string) (*files, error) {
	var f files
	var err error
	if f.categories, err = readLines[Category](folder, "productCategory.jsonl"); err != nil {
		return nil, err
	}
	if f.tags, err = readLines[Tag](folder, "productTag.jsonl"); err != nil {
		return nil, err
	}
	if f.products, err = readLines[Product](folder, "product.jsonl"); err != nil {
		return nil, err
	}
	pairs, err := readLines[pair](folder, "productTags.jsonl")
	if err != nil {
		return nil, err
	}
	byID := make(map[string]*Product, len(f.products))
	for _, p := range f.products {
		byID[p.ID] = p
	}
	for i, p := range pairs {
		product, ok := byID[p.ProductID]
		if !ok {
			return nil, fmt.Errorf("productTags.jsonl, line %d: there is no product with that id in product.jsonl", i+1)
		}
		product.TagIDs = append(product.TagIDs, p.TagID)
	}
	return &f, nil
}

// maxLine is the longest line that is read: a document of the service's limit.
const maxLine = tenantitem.MaxDocumentBytes

func readLines[T any](folder, name string) (out []*T, err error) {
	file, err := os.Open(filepath.Join(folder, name)) //nolint:gosec // the folder is the user's own choice
	if err != nil {
		return nil, fmt.Errorf("read the catalogue (give the folder of the CosmicWorks .jsonl files): %w", err)
	}
	defer func() {
		if closeErr := file.Close(); err == nil {
			err = closeErr
		}
	}()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		entity := new(T)
		if err := json.Unmarshal(lines.Bytes(), entity); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", name, n, err)
		}
		out = append(out, entity)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return out, nil
}

// copies gives every tenant documents of its own: a save fills in whose they are.
func copies[T any](entities []*T) []*T {
	out := make([]*T, len(entities))
	for i, e := range entities {
		fresh := *e
		out[i] = &fresh
	}
	return out
}
