// Package redact prints configurations without the secrets in them. Which members are secrets
// says each configuration: registry/secrets.go (account key, connection string, cursor key), repository/secrets.go,
// registry/account_key.go for a key that can be changed.
package redact

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
)

// hidden stands for a secret that is set.
const hidden = "[redacted]"

// Text prints a struct's exported fields that are set, in their order; of
// those that are named as secrets only that they are.
func Text(v any, secrets ...string) string {
	value := reflect.ValueOf(v)
	var fields []string
	for _, f := range reflect.VisibleFields(value.Type()) {
		field := value.FieldByIndex(f.Index)
		switch {
		case !f.IsExported() || field.IsZero():
		case slices.Contains(secrets, f.Name):
			fields = append(fields, f.Name+":"+hidden)
		case field.Kind() == reflect.Func, field.Kind() == reflect.Pointer, field.Kind() == reflect.Interface:
			// What they lead to may hold secrets of its own.
			fields = append(fields, f.Name+":"+field.Type().String())
		default:
			fields = append(fields, fmt.Sprintf("%s:%v", f.Name, field.Interface()))
		}
	}
	return value.Type().Name() + "{" + strings.Join(fields, " ") + "}"
}

// JSON is Text as a JSON string.
func JSON(v any, secrets ...string) ([]byte, error) { return json.Marshal(Text(v, secrets...)) }

// Log is Text for package slog.
func Log(v any, secrets ...string) slog.Value { return slog.StringValue(Text(v, secrets...)) }
