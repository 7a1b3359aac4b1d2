package edge

import "github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"

// compileCondition turns the SQL of a patch's condition into a function over documents.
func (c *call) compileCondition(patch *store.Patch) *store.Error {
	if patch.ConditionSQL == "" {
		return nil
	}
	return unsupported("Conditions of patches are")
}
