package registry_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
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
		parented.ForestConfig{}, parented.Config{}, parented.BucketConfig{}, emulator.Options{},
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
	if found != 7 { // two by embedding repository.Config
		t.Errorf("%d secrets were looked for, want 7: is one new, or gone?", found)
	}
}

// What is made of a configuration keeps its secrets to itself, however it is
// printed: a format looks into fields that are not exported, too.
func TestWhatHoldsASecretPrintsWithoutIt(t *testing.T) {
	t.Parallel()
	secret := strings.Repeat("a cursor's key; ", 3)
	plan, err := registry.NewPlan(registry.Config{Database: "db", CursorKey: []byte(secret)}, []registry.Declaration{registry.EntityOf[Note]()})
	must(t, err)
	client := emulatortest.Client(t)
	db, err := registry.Open(client, plan)
	must(t, err)
	notes, err := registry.RepositoryOf[Note](db)
	must(t, err)
	key, err := registry.NewAccountKey(base64.StdEncoding.EncodeToString([]byte(secret)))
	must(t, err)
	service, err := emulator.New(emulator.Options{Key: base64.StdEncoding.EncodeToString([]byte(secret))})
	must(t, err)
	for name, v := range map[string]any{
		"a plan": plan, "a plan's value": *plan, "a database": db, "a repository": notes, "a scope": notes.In("acme"), "an account's key": key, "a service": service,
	} {
		var logged bytes.Buffer
		for _, h := range []slog.Handler{slog.NewTextHandler(&logged, nil), slog.NewJSONHandler(&logged, nil)} {
			slog.New(h).Info("started", "value", v)
		}
		all := logged.String()
		for _, format := range []string{"%v", "%+v", "%#v"} {
			all += fmt.Sprintf(format, v)
		}
		for _, text := range []string{secret, base64.StdEncoding.EncodeToString([]byte(secret))} {
			for _, form := range []string{text, strings.Trim(fmt.Sprintf("%d", []byte(text)), "[]"), strings.Trim(fmt.Sprintf("%#v", []byte(text)), "[]byte{}")} {
				if strings.Contains(all, form) {
					t.Errorf("%s prints a secret", name)
				}
			}
		}
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
