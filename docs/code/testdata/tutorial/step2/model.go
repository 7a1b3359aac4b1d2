package main

import (
	"net/http"

	"github.com/cosmosgrove/grove/repository/httpapi"
	"github.com/cosmosgrove/grove/tenantitem"
)

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

// snippet: read

// readProduct makes a product of the body of a request.
func readProduct(w http.ResponseWriter, r *http.Request) (*Product, error) {
	p := &Product{}
	err := httpapi.ReadJSON(w, r, &p.ProductInput)
	if err == nil && (p.Name == "" || p.Cents < 0) {
		err = &httpapi.Problem{Status: http.StatusBadRequest, Detail: "a product has a name, and a price that is not negative"}
	}
	return p, err
}

// end snippet
