package emulator

import "github.com/cosmosgrove/grove/emulatortest/emulator/internal/script"

// ScriptLimits bounds each run of a stored procedure or trigger, and all calls of user-defined functions by one query: its
// time, its request units, and by how much the process's memory may grow. A zero field means its default.
type ScriptLimits = script.Limits
