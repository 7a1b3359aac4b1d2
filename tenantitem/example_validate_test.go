package tenantitem_test

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/cosmosgrove/grove/tenantitem"
)

func ExampleValidateID() {
	err := tenantitem.ValidateID("2026/11")
	fmt.Println(errors.Is(err, tenantitem.ErrInvalid))
	fmt.Println(err)
	// Output:
	// true
	// invalid id: it holds '/', which can't stand in an address (letters, digits, '-', '_', '.' and ':' are always safe; tenantitem.NewID makes one)
}

// A service that lets customers choose their own name checks it before it is a tenant.
func ExampleValidateTenantID() {
	for _, id := range []string{"acme", "", "acme 🌳"} {
		fmt.Println(tenantitem.ValidateTenantID(id) == nil)
	}
	// Output:
	// true
	// false
	// false
}

func ExampleValidateEntityType() {
	fmt.Println(tenantitem.ValidateEntityType("Note"), tenantitem.ValidateEntityType("Note/2") != nil)
	// Output: <nil> true
}

func ExampleValidateKeyValue() {
	for _, value := range []any{"Berlin", 42, true, math.NaN(), strings.Repeat("x", tenantitem.MaxKeyBytes+1)} {
		fmt.Println(tenantitem.ValidateKeyValue("/city", value) == nil)
	}
	// Output:
	// true
	// true
	// true
	// false
	// false
}

// What was refused, and why, is found in the error; the value itself is not.
func ExampleInvalidError() {
	err := tenantitem.ValidateTenantID("")
	var invalid *tenantitem.InvalidError
	if errors.As(err, &invalid) {
		fmt.Printf("%s: %s\n", invalid.What, invalid.Reason)
	}
	// Output: tenant id: it is empty
}
