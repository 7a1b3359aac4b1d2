package store

import (
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// The only algorithm of client encryption policies.
const encryptionAlgorithm = "AEAD_AES_256_CBC_HMAC_SHA256"

// checkEncryption refuses a client encryption policy that SDKs would not make: they name top-level properties, each once, and
// encrypt ids and partition keys deterministically, or with version 1 of the policy not at all.
func checkEncryption(v value.Value) error {
	policy := v.Get("clientEncryptionPolicy")
	if policy.IsUndefined() || policy.Kind() == value.Null {
		return nil
	}
	version, _ := policy.Get("policyFormatVersion").Number()
	if version != 1 && version != 2 {
		return badRequest("The Client Encryption Policy has an invalid policyFormatVersion: it should be 1 or 2.")
	}
	paths, ok := policy.Get("includedPaths").Array()
	if !ok {
		return badRequest("The Client Encryption Policy has no includedPaths.")
	}
	seen := map[string]bool{}
	for _, p := range paths {
		path, _ := p.Get("path").Str()
		if !strings.HasPrefix(path, "/") || strings.LastIndexByte(path, '/') != 0 || strings.TrimSpace(path) == "/" {
			return badRequest("The Client Encryption Policy has an invalid path: only top-level properties can be encrypted, as in /name.")
		}
		if seen[path] {
			return badRequest("The Client Encryption Policy has a path more than once.")
		}
		seen[path] = true
		if key, _ := p.Get("clientEncryptionKeyId").Str(); strings.TrimSpace(key) == "" {
			return badRequest("The Client Encryption Policy has a path without a clientEncryptionKeyId.")
		}
		if algorithm, _ := p.Get("encryptionAlgorithm").Str(); algorithm != encryptionAlgorithm {
			return badRequest("The Client Encryption Policy has an invalid encryptionAlgorithm: it should be %s.", encryptionAlgorithm)
		}
		kind, _ := p.Get("encryptionType").Str()
		if kind != "Deterministic" && kind != "Randomized" {
			return badRequest("The Client Encryption Policy has an invalid encryptionType: it should be Deterministic or Randomized.")
		}
		if identifies(v, path) && (version == 1 || kind != "Deterministic") {
			return badRequest("The Client Encryption Policy encrypts the id or the partition key: that takes policyFormatVersion 2 and Deterministic encryption.")
		}
	}
	return nil
}

// identifies reports whether a top-level path is that of the id or holds a part of the partition key.
func identifies(v value.Value, path string) bool {
	keys, _ := v.At("partitionKey", "paths").Array()
	return path == "/id" || slices.ContainsFunc(keys, func(key value.Value) bool {
		text, _ := key.Str()
		return text == path || strings.HasPrefix(text, path+"/")
	})
}

// checkEncryptionKeys refuses a policy that names keys which the database does not have. It needs d.mu.
func (d *Database) checkEncryptionKeys(v value.Value) error {
	paths, _ := v.At("clientEncryptionPolicy", "includedPaths").Array()
	for _, p := range paths {
		id, _ := p.Get("clientEncryptionKeyId").Str()
		if d.findClientKey(id) < 0 {
			return badRequest("The Client Encryption Policy names a client encryption key that the database does not have.")
		}
	}
	return nil
}
