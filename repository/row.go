package repository

import (
	"errors"

	"github.com/cosmosgrove/grove/internal/engine"
)

// checkRow refuses a document that does not belong here, also one that can't
// be read.
func (s *scope) checkRow(row *engine.Row) error {
	var unread *engine.RowError
	if errors.As(row.Err, &unread) {
		h := unread.Header
		return s.c.CheckNames(&s.at, h.TenantID, h.EntityType)
	}
	return s.c.Check(&s.at, engine.MetaOf(row.Value))
}

// checkRows is checkRow for a page.
func (s *scope) checkRows(rows []engine.Row) error {
	for i := range rows {
		if err := s.checkRow(&rows[i]); err != nil {
			return err
		}
	}
	return nil
}
