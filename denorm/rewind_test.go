package denorm_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// lease is a stored lease: how far one range of a feed was followed.
type lease struct {
	id   string
	body []byte
}

// leases reads how far all feeds are.
func (b *testBundle) leases() []lease {
	b.t.Helper()
	container, err := b.client.NewContainer("work", "grove-leases")
	b.must(err)
	var out []lease
	for pager := container.NewQueryItemsPager("SELECT * FROM c", azcosmos.NewPartitionKey(), nil); pager.More(); {
		page, err := pager.NextPage(b.ctx)
		b.must(err)
		for _, raw := range page.Items {
			var doc map[string]any
			b.must(json.Unmarshal(raw, &doc))
			id, _ := doc["id"].(string)
			delete(doc, "Owner") // its owner of then is not running any more
			body, err := json.Marshal(doc)
			b.must(err)
			out = append(out, lease{id, body})
		}
	}
	return out
}

// rewind makes the feeds as far followed as they were then: what came since is
// seen again by the next keeper.
func (b *testBundle) rewind(to []lease) {
	b.t.Helper()
	container, err := b.client.NewContainer("work", "grove-leases")
	b.must(err)
	for _, l := range b.leases() {
		err := patiently(func() error {
			_, err := container.DeleteItem(b.ctx, azcosmos.NewPartitionKeyString(l.id), l.id, nil)
			return err
		})
		var answer *azcore.ResponseError
		if errors.As(err, &answer) && answer.StatusCode == http.StatusNotFound {
			continue // a replica that was behind still told of it
		}
		b.must(err)
	}
	for _, l := range to {
		b.must(patiently(func() error {
			_, err := container.UpsertItem(b.ctx, azcosmos.NewPartitionKeyString(l.id), l.body, nil)
			return err
		}))
	}
}

// patiently sends a write of a client without Grove again for as long as the answer is 449, which the SDK leaves to its user.
func patiently(write func() error) error {
	for {
		err := write()
		var answer *azcore.ResponseError
		if !errors.As(err, &answer) || answer.StatusCode != 449 {
			return err
		}
	}
}

// What a rewound feed has seen since then is before it again.
func TestARewoundFeedIsBehind(t *testing.T) {
	t.Parallel()
	b := setupNear(t)
	b.customer("c1")
	b.catchUp()
	point := b.leases()
	b.order("c1", "one")
	b.order("c1", "two")
	b.catchUp()
	for _, rewound := range []bool{false, true} {
		if rewound {
			b.rewind(point)
		}
		_, keeper := openNear(t, b.client, "")
		p, _ := keeper.Processor("shop")
		ranges, err := p.Lag(b.ctx)
		b.must(err)
		behind := false
		for _, r := range ranges {
			behind = behind || r.Changes > 0
		}
		if behind != rewound {
			t.Errorf("rewound is %v, and the ranges are %v behind", rewound, ranges)
		}
	}
}
