package catalogue

import (
	"context"
	"encoding/json"
	"fmt"
)

// ExtensionGroup is the fx group that extensions are collected from.
const ExtensionGroup = `group:"grove.extensions"`

// InModule is a group's tag in the module of a name (registry.Config.Name).
func InModule(group, name string) string {
	return fmt.Sprintf("%s.%s\"", group[:len(group)-1], name)
}

// Extension takes part in making and opening a plan. It is called twice: while
// the plan is made, when it may ask for more of entities and containers, and
// once the repositories exist, before any of them is given out.
type Extension struct {
	// Name is what an application wrote to add it, such as "denorm.Module".
	// Two extensions of one name are an error.
	Name string
	// ServesCopies says that fields with a denorm tag are kept by this
	// extension. Without one that does, such a field is an error.
	ServesCopies bool
	// Containers are what the extension needs for itself: an application that
	// described one of that id keeps its own, provided that the key is the
	// same. Such a key need not begin with the tenant.
	Containers []Container
	// Plan checks the extension's own declarations against the rows and says
	// what it needs of them. plan is the *registry.Plan. It must do no I/O. It
	// may be nil.
	Plan func(plan Source) error
	// Open adds the extension's hooks to the collections. db is the
	// *registry.Database. It must do no I/O. It may be nil.
	Open func(db Source) error
	// EraseHeld removes what the extension's own containers hold of the chosen documents of a
	// container, and returns how many of them it was. db is the *registry.Database. It may be nil.
	EraseHeld func(ctx context.Context, db Source, container string, chosen func(HeldDocument) bool) (int, error)
}

// HeldDocument is a document of the application's that an extension holds outside of its container.
type HeldDocument struct {
	ID string
	// PartitionKey is a JSON array, and Document the document as it was stored; either may be empty.
	PartitionKey, Document json.RawMessage
}

// Container is one that an extension needs.
type Container struct {
	ID           string
	PartitionKey []string
	// By says who needs it.
	By string
}

// ExtensionHandle is embedded by the public extension.
type ExtensionHandle struct{ x Extension }

func (h *ExtensionHandle) fill(x Extension) { h.x = x }

func (h ExtensionHandle) extension() Extension { return h.x }

// Fill makes a public extension.
func Fill(public interface{ fill(Extension) }, x Extension) { public.fill(x) }

// ExtensionOf returns what a public extension does.
func ExtensionOf(public interface{ extension() Extension }) Extension { return public.extension() }
