package main

import "github.com/cosmosgrove/grove/sample/internal/account"

// client makes the client of the account. A service of your own calls
// registry.NewClient instead, as the tutorial's does: this package is the
// sample's alone.
var client = account.Client
