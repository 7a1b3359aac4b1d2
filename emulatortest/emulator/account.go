package emulator

import (
	"errors"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// openAccount makes an account in memory, or opens the one in the data folder.
func openAccount(o Options) (*store.Account, error) {
	options := store.Options{
		Now:                   o.Clock.Now,
		Partitions:            o.Partitions,
		LogicalPartitionLimit: o.LogicalPartitionLimit,
		EnforceThroughput:     o.EnforceThroughput,
	}
	if o.DataDir == "" {
		return store.New(options), nil
	}
	return nil, errors.New("emulator: DataDir is not supported yet: leave it empty")
}
