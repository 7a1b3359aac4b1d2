package main

import (
	"testing"

	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/emulatortest"
)

// start runs the service on a fresh account in the test's own process.
func start(t *testing.T, more ...fx.Option) *emulatortest.Emulator {
	return emulatortest.FX(t, fx.Options(service(), fx.Options(more...)))
}
