// Package restapi is the emulator's REST protocol: one file for each operation, which opens with what it supports, how it
// behaves and where it differs from the service. What the operations share has files of its own: the route from verb, path
// and headers to an operation (route.go, link.go, headers.go), who may do it (auth.go), and the form of answers and errors
// (respond.go, errors.go). Data is the business of package store, queries that of package query.
package restapi
