package layout

import "github.com/cosmosgrove/grove/internal/cosmos"

// Patch returns a canonical patch as it is sent, its condition included.
func (l *Layout) Patch(p cosmos.Patch) cosmos.Patch {
	if l == nil {
		return p
	}
	out := cosmos.Patch{Operations: make([]cosmos.PatchOperation, 0, len(p.Operations))}
	for _, op := range p.Operations {
		var kept bool
		if op.Path, kept = l.Pointer(op.Path); kept {
			out.Operations = append(out.Operations, op)
		}
	}
	if p.Condition != "" {
		out.Condition = l.SQL(p.Condition)
	}
	return out
}
