package main

import "github.com/cosmosgrove/grove/tenantitem"

// snippet: product

// ProductInput is what a client may write, and no more.
type ProductInput struct {
	Name  string `json:"name"`
	Cents int64  `json:"cents"`
}

// Product is what is sold.
type Product struct {
	tenantitem.TenantItem[Product]
	ProductInput
}

// end snippet
