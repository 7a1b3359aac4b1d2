package repository

import (
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/internal/cosmos"
)

// ClientOptions returns a copy of o with Grove's pipeline policy added, for
// azcosmos.NewClient and its siblings; nil stands for the defaults. The policy
// counts every attempt for [WithTally], keeps the SDK from sending a write a
// second time on its own account, and decodes a page of documents once,
// straight into the entities, where the SDK would decode it, encode each
// document again and leave the second decoding to the caller.
//
// A client made without it serves reads, slower and with coarser counts. Its
// writes are refused with [ErrInvalid] before anything is sent: the SDK takes
// some errors for "never sent" and would repeat a write that was applied.
func ClientOptions(o *azcosmos.ClientOptions) *azcosmos.ClientOptions { return cosmos.ClientOptions(o) }
