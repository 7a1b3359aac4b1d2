package engine

import (
	"encoding/json"
	"log/slog"
)

// MarshalJSON writes what Error says, field by field. The cause's own form is
// left out: the SDK's would carry the service's answer and the URL.
func (e *Error) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Op         string `json:"op"`
		EntityType string `json:"entityType"`
		TenantID   string `json:"tenantId,omitempty"`
		ID         string `json:"id,omitempty"`
		Error      string `json:"error"`
	}{e.Op, e.EntityType, e.TenantID, e.ID, e.Error()})
}

// LogValue is the error's text for package slog.
func (e *Error) LogValue() slog.Value { return slog.StringValue(e.Error()) }
