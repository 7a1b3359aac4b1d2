// Command shop is a multi-tenant service over HTTP, small enough to be copied:
// products and orders, with pages, conditional writes, typed errors, a budget
// for each request, a readiness probe, logs, traces and a graceful stop.
//
//	go run ./sample/shop
//	curl -i -H 'Authorization: Bearer acme-token' -d '{"name":"Kettle","cents":4900}' localhost:8080/products
//
// Without further words it works on an embedded account that ends with it.
// COSMOS_ENDPOINT, with COSMOS_KEY or an identity, or COSMOS_CONNECTION_STRING
// point it at another, where it makes a database called shop.
// docs/http.md explains it.
package main
