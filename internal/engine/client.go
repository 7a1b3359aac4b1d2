package engine

import (
	"context"

	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/tenantitem"
)

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
		err := k.once(ctx, &x, func(ctx context.Context) (cosmos.Answer, error) {
			_, answer, err := cosmos.ReadItem(ctx, k.Collection.Container, at.Key, ops[0].ID, cosmos.Options{})
			return answer, err
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
