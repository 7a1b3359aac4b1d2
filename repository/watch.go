package repository

import "context"

type watch struct{}

func (k *call) noteThrottled(ctx context.Context, err error) {
	if k.throttled != nil {
		k.throttled()
	}
}

func (k *call) noteRepeated(ctx context.Context, err error) {}
