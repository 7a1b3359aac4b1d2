package cosmos

import (
	"encoding/json"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/internal/codec"
)

// Patch changes parts of one document: its operations are applied in their
// order, all or none, and only where the condition holds.
type Patch struct {
	// Condition is "FROM c WHERE ..."; "" for none. The service takes no
	// parameters there.
	Condition  string
	Operations []PatchOperation
}

// PatchKind is what one operation of a patch does.
type PatchKind uint8

// The operations that the service has.
const (
	PatchSet PatchKind = iota + 1
	PatchAdd
	PatchRemove
	PatchIncrement
)

// PatchOperation changes what is at a JSON pointer.
type PatchOperation struct {
	Kind PatchKind
	Path string
	// Value is what is set or added, encoded by encoding/json.
	Value any
	// By is what an increment adds.
	By int64
}

// Set writes a member, whether it is there or not.
func (p *Patch) Set(path string, value any) {
	p.Operations = append(p.Operations, PatchOperation{Kind: PatchSet, Path: path, Value: value})
}

// Add writes a member, or inserts into an array.
func (p *Patch) Add(path string, value any) {
	p.Operations = append(p.Operations, PatchOperation{Kind: PatchAdd, Path: path, Value: value})
}

// Remove takes a member, or an element of an array, away.
func (p *Patch) Remove(path string) {
	p.Operations = append(p.Operations, PatchOperation{Kind: PatchRemove, Path: path})
}

// Increment adds to a number.
func (p *Patch) Increment(path string, by int64) {
	p.Operations = append(p.Operations, PatchOperation{Kind: PatchIncrement, Path: path, By: by})
}

// MarshalJSON writes the patch as it is sent.
func (p Patch) MarshalJSON() ([]byte, error) { return p.operations().MarshalJSON() }

var null = json.RawMessage("null")

// operations is the patch as the SDK takes it.
func (p Patch) operations() azcosmos.PatchOperations {
	var out azcosmos.PatchOperations
	for _, op := range p.Operations {
		value := op.Value
		if value == nil {
			value = null // the SDK would leave it out
		}
		switch op.Kind {
		case PatchSet:
			out.AppendSet(op.Path, value)
		case PatchAdd:
			out.AppendAdd(op.Path, value)
		case PatchRemove:
			out.AppendRemove(op.Path)
		case PatchIncrement:
			out.AppendIncrement(op.Path, op.By)
		}
	}
	if p.Condition != "" {
		out.SetCondition(codec.EscapeText(p.Condition)) // the SDK pastes it into a JSON string as it is
	}
	return out
}
