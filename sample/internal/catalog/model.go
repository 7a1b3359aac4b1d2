// Package catalog imports a product catalogue for two tenants and asks it
// questions.
package catalog

import "github.com/cosmosgrove/grove/tenantitem"

// Category is what products are grouped by.
type Category struct {
	tenantitem.TenantItem[Category]
	Name string `json:"name"`
}

// Tag is one of the words on a product.
type Tag struct {
	tenantitem.TenantItem[Tag]
	Name string `json:"name"`
}

// Product is what is sold. The files keep its tags in a table of pairs; here
// they are a list in the document, because they are few and read with it.
type Product struct {
	tenantitem.TenantItem[Product]
	SKU         string                   `json:"sku"`
	Name        string                   `json:"name"`
	Description string                   `json:"description"`
	Price       float64                  `json:"price"`
	CategoryID  tenantitem.Ref[Category] `json:"categoryId"`
	TagIDs      []tenantitem.Ref[Tag]    `json:"tagIds,omitempty"`
}
