package registry_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
)

// secretName matches fields that hold what must not be printed.
var secretName = regexp.MustCompile(`(?i)^(key|.*(secret|password|connectionstring|cursorkey|accountkey|credentialkey))$`)

// No way of printing a configuration prints a secret in it. The structs are
// found by the names of their fields, so that a new secret is seen.
func TestConfigurationsAreNotPrintedWithTheirSecrets(t *testing.T) {
	t.Parallel()
	const secret = "c2VjcmV0LXRoYXQtbXVzdC1zdGF5LWluc2lkZQ=="
	found := 0
	for _, v := range []any{
		registry.ClientConfig{}, registry.Config{}, registry.Container{}, registry.ImportOptions{}, registry.ExportOptions{},
		registry.EraseOptions{}, registry.StatsOptions{}, repository.Config{}, repository.Telemetry{}, denorm.Config{},
		parented.ForestConfig{}, parented.Config{}, parented.BucketConfig{},
	} {
		filled := reflect.New(reflect.TypeOf(v)).Elem()
		for _, f := range reflect.VisibleFields(filled.Type()) {
			if !f.IsExported() || !secretName.MatchString(f.Name) {
				continue
			}
			switch field := filled.FieldByIndex(f.Index); field.Kind() {
			case reflect.String:
				field.SetString(secret)
			case reflect.Slice:
				field.SetBytes([]byte(secret))
			default:
				continue
			}
			found++
		}
		value := filled.Interface()
		var logged bytes.Buffer
		for _, h := range []slog.Handler{slog.NewTextHandler(&logged, nil), slog.NewJSONHandler(&logged, nil)} {
			slog.New(h).Info("started", "config", value, "pointer", filled.Addr().Interface())
		}
		text, _ := json.Marshal(value) // some hold functions, which is an error and no leak
		pointer, _ := json.Marshal(filled.Addr().Interface())
		all := fmt.Sprintf("%v %+v %#v %s", value, value, value, value) + fmt.Sprintf("%v %+v %#v", filled.Addr(), filled.Addr(), filled.Addr().Interface()) +
			string(text) + string(pointer) + logged.String()
		asNumbers := strings.Trim(fmt.Sprintf("%d", []byte(secret)), "[]")
		for _, form := range []string{secret, asNumbers[:39], fmt.Sprintf("%#v", []byte(secret))[7:40]} {
			if strings.Contains(all, form) {
				t.Errorf("%T prints a secret: %s", value, all)
			}
		}
	}
	if found != 6 { // two by embedding repository.Config
		t.Errorf("%d secrets were looked for, want 6: is one new, or gone?", found)
	}
}

// A key over plain HTTP to another host is refused unless that is asked for.
func TestAKeyOverPlainHTTP(t *testing.T) {
	t.Parallel()
	for endpoint, ok := range map[string]bool{
		"http://cosmos:8081/": false, "http://10.0.0.7:8081/": false, "http://localhost.example.com/": false,
		"http://localhost:8081/": true, "http://127.0.0.1:8081/": true, "http://[::1]:8081/": true, "http://a.emulator.localhost/": true,
	} {
		for _, allowed := range []bool{false, true} {
			cfg := registry.ClientConfig{Endpoint: endpoint, Key: "a2V5", AllowPlainHTTP: allowed, ReadyTimeout: -1}
			client, err := registry.NewClient(t.Context(), cfg)
			if (err == nil) != (ok || allowed) {
				t.Errorf("%s, allowed %t: %v", endpoint, allowed, err)
			}
			if client != nil {
				client.Close()
			}
		}
	}
}
