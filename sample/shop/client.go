package main

import "github.com/cosmosgrove/grove/sample/internal/account"

// client makes the client of the account. In a service of your own it calls
// registry.NewClient.
var client = account.Client
