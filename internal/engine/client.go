package engine

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/tenantitem"
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

// What is known of a container's client.
const (
	clientUnknown uint32 = iota
	clientReady
	clientBare // it lacks the policy
)

// noteClient learns from a call whether the client has the policy.
func (c *Collection) noteClient(x *exchange) {
	if x.Seen() {
		c.client.Store(clientReady)
	}
}

// requireClientOptions refuses writes by a client whose SDK may send them
// twice. A client that nothing was asked of yet is probed: with the policy the
// probe ends there, without it it is a point read.
func (k *Call) requireClientOptions(ctx context.Context, at *Partition, ops []Operation) error {
	if k.Collection.client.Load() == clientUnknown {
		x := exchange{Exchange: cosmos.Exchange{Probe: true}, exempt: true}
		err := k.once(ctx, &x, func(ctx context.Context) (azcosmos.Response, error) {
			resp, err := k.Collection.Container.ReadItem(ctx, at.Key, ops[0].ID, nil)
			return resp.Response, err
		})
		if k.Collection.client.Load() == clientUnknown {
			if err != nil && StatusOf(err) == 0 {
				return err
			}
			k.Collection.client.Store(clientBare)
		}
	}
	if k.Collection.client.Load() == clientReady {
		return nil
	}
	return &tenantitem.InvalidError{
		What:   "client",
		Reason: "it was made without repository.ClientOptions, so that the SDK may send a write twice",
		Hint:   "make it with registry.NewClient, or give azcosmos.NewClient the options that repository.ClientOptions returns",
	}
}
