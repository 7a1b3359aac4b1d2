// Package wrongbase does not compile: each call takes an entity whose base is
// missing or was pasted from another type.
package wrongbase

import "github.com/cosmosgrove/grove/tenantitem"

type Plain struct{ tenantitem.Meta }

type Person struct{ tenantitem.TenantItem[Person] }

type Note struct{ tenantitem.TenantItem[Person] }

func root[T any, PT tenantitem.Root[T]]() {}

var (
	_ = root[Person]
	_ = root[Plain]
	_ = root[Note]
)
