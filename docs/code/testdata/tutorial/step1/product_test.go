package main

import (
	"context"
	"errors"
	"testing"

	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
)

func TestProduct(t *testing.T) {
	var products *repository.Repository[Product]
	account := start(t, fx.Populate(&products))
	ctx, acme := t.Context(), products.In("acme")

	kettle := &Product{ProductInput: ProductInput{Name: "Kettle", Cents: 4900}}
	if err := acme.Create(ctx, kettle); err != nil {
		t.Fatal(err)
	}
	emulatortest.AssertPointRead(t, account, func(ctx context.Context) {
		got, err := acme.Get(ctx, kettle.ID)
		if err != nil || got.Name != "Kettle" {
			t.Error(got, err)
		}
	})
	if _, err := products.In("globex").Get(ctx, kettle.ID); !errors.Is(err, repository.ErrNotFound) {
		t.Error("another tenant sees it:", err)
	}
}
