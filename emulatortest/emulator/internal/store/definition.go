package store

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// Definition is what the store understands of a container's properties.
type Definition struct {
	// Paths are the partition key's paths as given, such as "/tenantId".
	Paths []string
	// Scheme is how keys are hashed.
	Scheme epk.Scheme
	// SystemKey reports that the container was made without a key: every item lives under the undefined key.
	SystemKey bool
	// DefaultTTL is nil when TTL is off, -1 when it is on without a default, else seconds.
	DefaultTTL *int64
	// UniqueKeys are the paths of each unique key.
	UniqueKeys [][]string
	// Retention is how long all versions and deletes are kept; zero means that the mode is off.
	Retention time.Duration
	// Properties is the whole resource parsed, for whoever needs more: indexingPolicy, computedProperties and so on.
	Properties value.Value

	keyTokens    [][]string
	uniqueTokens [][][]string
}

const (
	maxKeyPaths    = 3
	maxUniqueKeys  = 10
	maxUniquePaths = 16
	maxTTL         = math.MaxInt32

	defaultIndexingPolicy = `{"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"}]}`
	defaultConflictPolicy = `{"mode":"LastWriterWins","conflictResolutionPath":"/_ts","conflictResolutionProcedure":""}`
	systemKeyPath         = "/_partitionKey"
)

// define reads the properties of a container.
func define(v value.Value) (*Definition, error) {
	d := &Definition{Properties: v}
	if err := d.defineKey(v.Get("partitionKey")); err != nil {
		return nil, err
	}
	if err := d.defineTTL(v.Get("defaultTtl")); err != nil {
		return nil, err
	}
	if err := d.defineUnique(v.Get("uniqueKeyPolicy")); err != nil {
		return nil, err
	}
	if minutes, ok := v.At("changeFeedPolicy", "retentionDuration").Number(); ok {
		if minutes < 0 || minutes > maxTTL {
			return nil, badRequest("The change feed policy's retentionDuration should be a number of minutes, zero or more.")
		}
		d.Retention = time.Duration(minutes * float64(time.Minute))
	}
	return d, nil
}

func (d *Definition) defineKey(v value.Value) error {
	paths, ok := v.Get("paths").Array()
	if !ok || len(paths) == 0 {
		return badRequest("The partition key definition is missing or has no paths: send partitionKey.paths.")
	}
	if len(paths) > maxKeyPaths {
		return badRequest("The partition key definition has %d paths; at most %d are supported.", len(paths), maxKeyPaths)
	}
	for _, p := range paths {
		text, _ := p.Str()
		tokens, err := pathTokens(text)
		if err != nil {
			return badRequest("The partition key path is invalid: %v.", err)
		}
		d.Paths = append(d.Paths, text)
		d.keyTokens = append(d.keyTokens, tokens)
	}
	kind, _ := v.Get("kind").Str()
	version, _ := v.Get("version").Number()
	switch {
	case strings.EqualFold(kind, "MultiHash") && version == 2:
		d.Scheme = epk.MultiHash
	case strings.EqualFold(kind, "Hash") && version == 2 && len(paths) == 1:
		d.Scheme = epk.HashV2
	case strings.EqualFold(kind, "Hash") && version == 1 && len(paths) == 1:
		d.Scheme = epk.HashV1
	default:
		return badRequest("The partition key definition is invalid: kind Hash takes one path and version 1 or 2, kind MultiHash up to %d paths and version 2.", maxKeyPaths)
	}
	d.SystemKey, _ = v.Get("systemKey").Bool()
	return nil
}

func (d *Definition) defineTTL(v value.Value) error {
	if v.IsUndefined() || v.Kind() == value.Null {
		return nil
	}
	seconds, ok := wholeTTL(v)
	if !ok {
		return badRequest("The defaultTtl is invalid: it should be a positive number of seconds up to %d, or -1 for items that never expire unless they say so.", maxTTL)
	}
	d.DefaultTTL = &seconds
	return nil
}

// wholeTTL reads a TTL: -1 or a positive whole number of seconds.
func wholeTTL(v value.Value) (int64, bool) {
	f, ok := v.Number()
	if !ok || f != math.Trunc(f) || f > maxTTL || f != -1 && f < 1 {
		return 0, false
	}
	return int64(f), true
}

func (d *Definition) defineUnique(v value.Value) error {
	keys, _ := v.Get("uniqueKeys").Array()
	if len(keys) > maxUniqueKeys {
		return badRequest("The unique key policy has %d keys; at most %d are supported.", len(keys), maxUniqueKeys)
	}
	for _, key := range keys {
		var paths []string
		var tokens [][]string
		list, _ := key.Get("paths").Array()
		for _, p := range list {
			text, _ := p.Str()
			t, err := pathTokens(text)
			if err != nil {
				return badRequest("The unique key path is invalid: %v.", err)
			}
			paths, tokens = append(paths, text), append(tokens, t)
		}
		if len(paths) == 0 || len(paths) > maxUniquePaths {
			return badRequest("A unique key should have between 1 and %d paths.", maxUniquePaths)
		}
		d.UniqueKeys = append(d.UniqueKeys, paths)
		d.uniqueTokens = append(d.uniqueTokens, tokens)
	}
	return nil
}

// pathTokens splits a path such as /a/b or /"a b"/c into the names on the way.
func pathTokens(path string) ([]string, error) {
	if len(path) < 2 || path[0] != '/' {
		return nil, fmt.Errorf("it should begin with a slash and name a property")
	}
	var tokens []string
	for rest := path; rest != ""; {
		rest = rest[1:] // the slash
		if strings.HasPrefix(rest, `"`) {
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return nil, fmt.Errorf("a quoted name does not end")
			}
			name, err := strconv.Unquote(quoted)
			if err != nil {
				return nil, fmt.Errorf("a quoted name is malformed")
			}
			tokens, rest = append(tokens, name), rest[len(quoted):]
			if rest != "" && rest[0] != '/' {
				return nil, fmt.Errorf("a quoted name is followed by something else than a slash")
			}
			continue
		}
		end := strings.IndexByte(rest, '/')
		if end < 0 {
			end = len(rest)
		}
		if end == 0 {
			return nil, fmt.Errorf("it has an empty name")
		}
		tokens, rest = append(tokens, rest[:end]), rest[end:]
	}
	return tokens, nil
}

// fillDefaults completes a container's properties as the service does when it creates one.
func fillDefaults(n *node, v value.Value) error {
	if key := n.get("partitionKey"); key == nil || !key.isObject() {
		n.set("partitionKey", leaf(`{"paths":["`+systemKeyPath+`"],"kind":"Hash","version":2,"systemKey":true}`))
	} else {
		paths, _ := v.At("partitionKey", "paths").Array()
		kind := `"Hash"`
		if len(paths) > 1 {
			kind = `"MultiHash"`
		}
		key.setDefault("kind", kind)
		if version, ok := v.At("partitionKey", "version").Number(); !ok || version == 0 {
			key.set("version", leaf("2"))
		}
	}
	return fillPolicies(n, v)
}
