package main

import (
	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/registry"
)

func main() {
	fx.New(service(), fx.Provide(client)).Run() // until it is interrupted
}

// snippet: service

// service is everything but the account.
func service() fx.Option {
	return fx.Options(
		registry.Module(registry.Config{Database: "shop", Provision: true}),
		registry.Entity[Product](),
	)
}

// end snippet
