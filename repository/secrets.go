package repository

import (
	"log/slog"

	"github.com/cosmosgrove/grove/internal/redact"
)

// String prints the configuration without its secrets, as do GoString,
// LogValue and MarshalJSON.
func (cfg Config) String() string { return redact.Text(cfg, "CursorKey") }

// GoString is String.
func (cfg Config) GoString() string { return cfg.String() }

// LogValue is String for package slog.
func (cfg Config) LogValue() slog.Value { return redact.Log(cfg, "CursorKey") }

// MarshalJSON is String as a JSON text.
func (cfg Config) MarshalJSON() ([]byte, error) { return redact.JSON(cfg, "CursorKey") }
