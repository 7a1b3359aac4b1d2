// Package transfer moves money between two accounts, once wrongly and once rightly, for docs/testing.md.
package transfer

import (
	"context"
	"errors"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Account holds money.
type Account struct {
	tenantitem.TenantItem[Account]
	Balance int `json:"balance"`
}

// ErrNotEnough says that an account holds less than it should give.
var ErrNotEnough = errors.New("not enough money")

// snippet: naive

// Naive takes the money from one account and then gives it to the other.
func Naive(ctx context.Context, accounts *repository.Scope[Account], from, to string, amount int) error {
	_, err := accounts.Mutate(ctx, from, func(a *Account) error {
		if a.Balance < amount {
			return ErrNotEnough
		}
		a.Balance -= amount
		return nil
	})
	if err != nil {
		return err
	}
	_, err = accounts.Mutate(ctx, to, func(a *Account) error {
		a.Balance += amount
		return nil
	})
	return err
}

// end snippet

// Atomic writes both accounts in one transaction, bound to what it has read.
func Atomic(ctx context.Context, accounts *repository.Scope[Account], from, to string, amount int) error {
	giver, err := accounts.Get(ctx, from)
	if err != nil {
		return err
	}
	taker, err := accounts.Get(ctx, to)
	if err != nil {
		return err
	}
	if giver.Balance < amount {
		return ErrNotEnough
	}
	// snippet: atomic
	giver.Balance -= amount
	taker.Balance += amount
	return accounts.Batch().Replace(giver).Replace(taker).Commit(ctx)
	// end snippet
}
