package restapi

import (
	"context"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/eval"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/script"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// withFunctions lets one query call the container's user-defined functions, which together have the limits of one script.
func (c *call) withFunctions(container *store.Container) context.Context {
	functions := script.NewFunctions(c.ctx, func(id string) (string, bool) {
		s, err := container.Script(store.UserDefinedFunction, id)
		return s.Body, err == nil
	}, c.scriptWorld())
	return eval.WithUserDefined(c.ctx, functions)
}
