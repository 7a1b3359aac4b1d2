package denorm_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/tenantitem"
)

// BenchmarkCountedCreate creates a document that its customer counts, in the
// customer's partition: with Grove, and by hand, where one batch creates the
// document and increments the count, and a list of the newest has to be read
// and bound to its version besides.
func BenchmarkCountedCreate(b *testing.B) {
	arms := []struct {
		name string
		make func(*nearBundle) func(i int) error
	}{
		{"count/hand", func(s *nearBundle) func(int) error { return s.byHand(b, false) }},
		{"count/grove", func(s *nearBundle) func(int) error {
			return func(int) error { return s.calls.In(acme, "c1").Create(s.ctx, &Call{}) }
		}},
		{"count-and-newest/hand", func(s *nearBundle) func(int) error { return s.byHand(b, true) }},
		{"count-and-newest/grove", func(s *nearBundle) func(int) error {
			return func(i int) error {
				return s.orders.In(acme, "c1").Create(s.ctx, &Order{BuyerID: "c1", Title: fmt.Sprint("t", i)})
			}
		}},
	}
	for _, arm := range arms {
		b.Run(arm.name, func(b *testing.B) {
			s := setupNear(b)
			s.customer("c1")
			create := arm.make(s)
			log := s.emu.Service().Log()
			mark, requests, units := log.Mark(), 0, 0.0
			count := func() {
				for _, x := range log.Since(mark) {
					requests, units = requests+1, units+x.Charge
				}
				mark = log.Mark()
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if err := create(i); err != nil {
					b.Fatal(err)
				}
				if i++; i%1000 == 0 {
					count() // before the log forgets
				}
			}
			count()
			b.ReportMetric(float64(requests)/float64(i), "requests/op")
			b.ReportMetric(units/float64(i), "RU/op")
		})
	}
}

func (s *nearBundle) byHand(b *testing.B, newest bool) func(i int) error {
	b.Helper()
	container, err := s.client.NewContainer("work", "shop")
	if err != nil {
		b.Fatal(err)
	}
	key := azcosmos.NewPartitionKeyString(acme).AppendString("c1")
	return func(i int) error {
		id, err := tenantitem.NewID()
		if err != nil {
			return err
		}
		order := map[string]any{"id": id, "tenantId": acme, "entityType": "Order", "customerId": "c1", "buyerId": "c1", "title": fmt.Sprint("t", i)}
		body, err := json.Marshal(order)
		if err != nil {
			return err
		}
		batch := container.NewTransactionalBatch(key)
		batch.CreateItem(body, nil)
		var patch azcosmos.PatchOperations
		patch.AppendIncrement("/orderCount", 1)
		options := &azcosmos.TransactionalBatchItemOptions{}
		if newest {
			read, err := container.ReadItem(s.ctx, key, "c1", nil)
			if err != nil {
				return err
			}
			var customer Customer
			if err := json.Unmarshal(read.Value, &customer); err != nil {
				return err
			}
			cards := append([]OrderCard{{tenantitem.Ref[Order](id), fmt.Sprint("t", i)}}, customer.LastOrders...)
			patch.AppendSet("/lastOrders", cards[:min(2, len(cards))])
			options.IfMatchETag = &read.ETag
		}
		batch.PatchItem("c1", patch, options)
		done, err := container.ExecuteTransactionalBatch(s.ctx, batch, nil)
		if err == nil && !done.Success {
			err = fmt.Errorf("the batch failed: %v", done.OperationResults)
		}
		return err
	}
}
