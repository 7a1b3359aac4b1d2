package edge

import "github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"

// Stored procedures, triggers, user-defined functions and conflicts: .../sprocs, .../triggers, .../udfs, .../conflicts
//
// Supported: nothing. Every verb is refused by name with 501, which is also where Microsoft's Linux emulator stands.
// Differs from the service: the service stores and runs scripts, and lists conflicts of multi-region writes.

func (c *call) refuseScript() (*result, *store.Error) {
	return nil, unsupported("Stored procedures, triggers, user-defined functions and conflicts are")
}
