package engine

import (
	"context"
)

// BeforeDelete asks the hooks whether a document may be deleted.
func (c *Collection) BeforeDelete(ctx context.Context, d Deletion) error {
	for _, hook := range c.Hooks.BeforeDelete {
		if err := hook(ctx, d); err != nil {
			return err
		}
	}
	return nil
}
