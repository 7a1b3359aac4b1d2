package emulator

import (
	"errors"
	"fmt"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/durable"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// openAccount makes an account in memory, or opens the one in the data folder.
func openAccount(o Options) (*store.Account, error) {
	options := store.Options{
		Now:                   o.Clock.Now,
		Partitions:            o.Partitions,
		LogicalPartitionLimit: o.LogicalPartitionLimit,
		EnforceThroughput:     o.EnforceThroughput,
		OfferReplaceTime:      o.OfferReplaceTime,
	}
	if o.DataDir == "" {
		return store.New(options), nil
	}
	journal, err := durable.Open(o.DataDir)
	if err != nil {
		return nil, fmt.Errorf("emulator: open the data folder: %w", err)
	}
	options.Journal = journal
	account, err := store.Open(options)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("emulator: read the data folder: %w", err), journal.Close())
	}
	return account, nil
}
