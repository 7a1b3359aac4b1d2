// Package webstore is the WebStore of the document modelling articles: three
// containers, keyed as the articles key them, without any tenant.
//
//	customer, /customerId    customers and their orders, in one logical partition
//	product, /categoryId     products, with the names of their category and tags
//	productMeta, /type       categories and tags, a logical partition for each type
//
// Each question that the shop asks is a method of [Store].
package webstore

import (
	"time"

	"github.com/cosmosgrove/grove/tenantitem"
)

// snippet: customer

// Customer is {"id": "c1", "customerId": "c1", "type": "customer", ...}. What
// is read with it and bounded is embedded.
type Customer struct {
	tenantitem.TenantItem[Customer]
	Title           string    `json:"title"`
	FirstName       string    `json:"firstName"`
	LastName        string    `json:"lastName"`
	EmailAddress    string    `json:"emailAddress"`
	PhoneNumber     string    `json:"phoneNumber"`
	CreationDate    time.Time `json:"creationDate"`
	Addresses       []Address `json:"addresses"`
	Password        Password  `json:"password"`
	SalesOrderCount int       `json:"salesOrderCount"`
}

// SalesOrder is {"id", "customerId": "c1", "type": "salesOrder", ...}, beside
// its customer.
type SalesOrder struct {
	tenantitem.TenantItem[SalesOrder]
	CustomerID tenantitem.Ref[Customer] `json:"customerId"`
	OrderDate  time.Time                `json:"orderDate"`
	ShipDate   time.Time                `json:"shipDate,omitzero"`
	Details    []Detail                 `json:"details"`
}

// end snippet

// Address is where a customer lives.
type Address struct {
	AddressLine1 string `json:"addressLine1"`
	AddressLine2 string `json:"addressLine2"`
	City         string `json:"city"`
	State        string `json:"state"`
	Country      string `json:"country"`
	ZipCode      string `json:"zipCode"`
}

// Password is never stored in clear.
type Password struct {
	Hash string `json:"hash"`
	Salt string `json:"salt"`
}

// Detail is a line of an order, as it was when the order was made.
type Detail struct {
	SKU      string  `json:"sku"`
	Name     string  `json:"name"`
	Price    float64 `json:"price"`
	Quantity int     `json:"quantity"`
}

// snippet: product

// Product is {"id", "categoryId", "categoryName", "tags": [{"id", "name"}], ...}
// without a type: the container holds nothing else. The names follow the
// category and the tags.
type Product struct {
	tenantitem.TenantItem[Product]
	CategoryID   tenantitem.Ref[Category] `json:"categoryId"`
	CategoryName string                   `json:"categoryName" denorm:"sync,ref=categoryId,field=name"`
	SKU          string                   `json:"sku"`
	Name         string                   `json:"name"`
	Description  string                   `json:"description"`
	Price        float64                  `json:"price"`
	Tags         []ProductTag             `json:"tags"`
}

// ProductTag is what a product holds of a tag.
type ProductTag struct {
	ID   tenantitem.Ref[Tag] `json:"id"`
	Name string              `json:"name" denorm:"sync,ref=id,field=name"`
}

// Category is {"id", "type": "category", "name"}.
type Category struct {
	tenantitem.TenantItem[Category]
	Name string `json:"name"`
}

// Tag is {"id", "type": "tag", "name"}.
type Tag struct {
	tenantitem.TenantItem[Tag]
	Name string `json:"name"`
}

// end snippet
