// Command program is the service whose rebuilds package buildcost measures: an
// application over the entities of entities.go, of which the measurement makes
// as many as it wants.
package main

import (
	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/registry"
)

func main() {
	fx.New(append([]fx.Option{registry.Module(registry.Config{Database: "service"})}, entities()...)...).Run()
}
