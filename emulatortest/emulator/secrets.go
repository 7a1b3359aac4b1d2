package emulator

import (
	"encoding/json"
	"fmt"
	"log/slog"
)

// String prints the options without the account's key, as do GoString, LogValue and MarshalJSON.
func (o Options) String() string {
	type plain Options // without these methods
	p := plain(o)
	if p.Key != "" {
		p.Key = "[redacted]"
	}
	return fmt.Sprintf("Options%+v", p)
}

// GoString is String.
func (o Options) GoString() string { return o.String() }

// LogValue is String for package slog.
func (o Options) LogValue() slog.Value { return slog.StringValue(o.String()) }

// MarshalJSON is String as a JSON text.
func (o Options) MarshalJSON() ([]byte, error) { return json.Marshal(o.String()) }
