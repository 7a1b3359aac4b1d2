package restapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const anyKey = `{"id":"key","encryptionAlgorithm":"AEAD_AES_256_CBC_HMAC_SHA256","wrappedDataEncryptionKey":"AQID",` +
	`"keyWrapMetadata":{"type":"custom","name":"n","value":"v","algorithm":"RSA-OAEP"}}`

func encryptedPath(path, kind string) string {
	return fmt.Sprintf(`{"path":%q,"clientEncryptionKeyId":"key","encryptionType":%q,"encryptionAlgorithm":"AEAD_AES_256_CBC_HMAC_SHA256"}`, path, kind)
}

func encryptedContainer(version int, paths ...string) string {
	return fmt.Sprintf(`{"id":"x","partitionKey":{"paths":["/pk","/place/town"],"kind":"MultiHash","version":2},`+
		`"clientEncryptionPolicy":{"policyFormatVersion":%d,"includedPaths":[%s]}}`, version, strings.Join(paths, ","))
}

func TestClientEncryptionPolicies(t *testing.T) {
	t.Parallel()
	good := encryptedPath("/ssn", "Randomized")
	for name, c := range map[string]struct{ body, want string }{
		"version 1":                   {encryptedContainer(1, good), ""},
		"version 2":                   {encryptedContainer(2, good, encryptedPath("/id", "Deterministic"), encryptedPath("/pk", "Deterministic")), ""},
		"no paths":                    {encryptedContainer(2), ""},
		"no policy":                   {`{"id":"x","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2},"clientEncryptionPolicy":null}`, ""},
		"another version":             {encryptedContainer(3, good), "policyFormatVersion"},
		"no version":                  {encryptedContainer(0, good), "policyFormatVersion"},
		"no list":                     {strings.Replace(encryptedContainer(2), `[]}`, `{}}`, 1), "no includedPaths"},
		"nested path":                 {encryptedContainer(2, encryptedPath("/a/b", "Randomized")), "only top-level"},
		"no path":                     {encryptedContainer(2, encryptedPath("", "Randomized")), "only top-level"},
		"root":                        {encryptedContainer(2, encryptedPath("/", "Randomized")), "only top-level"},
		"path twice":                  {encryptedContainer(2, good, good), "more than once"},
		"type":                        {encryptedContainer(2, encryptedPath("/ssn", "Random")), "encryptionType"},
		"algorithm":                   {encryptedContainer(2, strings.Replace(good, "AEAD", "AES", 1)), "encryptionAlgorithm"},
		"no key":                      {encryptedContainer(2, strings.Replace(good, `"key"`, `""`, 1)), "without a clientEncryptionKeyId"},
		"unknown key":                 {encryptedContainer(2, strings.Replace(good, `"key"`, `"other"`, 1)), "does not have"},
		"randomized id":               {encryptedContainer(2, encryptedPath("/id", "Randomized")), "Deterministic"},
		"randomized key":              {encryptedContainer(2, encryptedPath("/pk", "Randomized")), "Deterministic"},
		"randomized part of a key":    {encryptedContainer(2, encryptedPath("/place", "Randomized")), "Deterministic"},
		"id with version 1":           {encryptedContainer(1, encryptedPath("/id", "Deterministic")), "policyFormatVersion 2"},
		"begins like a part of a key": {encryptedContainer(2, encryptedPath("/pla", "Randomized")), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			if a := b.do(t, http.MethodPost, "/dbs/db/clientencryptionkeys", anyKey); a.Status != http.StatusCreated {
				t.Fatalf("the key: %d %s", a.Status, a.Body)
			}
			a := b.do(t, http.MethodPost, "/dbs/db/colls", c.body)
			if c.want == "" && a.Status != 201 || c.want != "" && (a.Status != 400 || !strings.Contains(string(a.Body), c.want)) {
				t.Errorf("got %d %s, want %q", a.Status, a.Body, c.want)
			}
		})
	}
}

func TestClientEncryptionPoliciesStay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.do(t, http.MethodPost, "/dbs/db/clientencryptionkeys", anyKey)
	body := encryptedContainer(2, encryptedPath("/ssn", "Randomized"))
	if a := b.do(t, http.MethodPost, "/dbs/db/colls", body); a.Status != 201 {
		t.Fatalf("got %d %s", a.Status, a.Body)
	}
	for _, c := range []struct {
		name, body string
		status     int
	}{
		{"the same", body, 200},
		{"another type", strings.Replace(body, "Randomized", "Deterministic", 1), 400},
		{"one more path", encryptedContainer(2, encryptedPath("/ssn", "Randomized"), encryptedPath("/name", "Randomized")), 400},
		{"left out", `{"id":"x","partitionKey":{"paths":["/pk","/place/town"],"kind":"MultiHash","version":2}}`, 200},
	} {
		a := b.do(t, http.MethodPut, "/dbs/db/colls/x", c.body)
		if a.Status != c.status {
			t.Errorf("%s: got %d %s, want %d", c.name, a.Status, a.Body, c.status)
		}
		if a := b.do(t, http.MethodGet, "/dbs/db/colls/x", ""); !strings.Contains(string(a.Body), `"path":"/ssn"`) {
			t.Errorf("%s: the policy is gone: %s", c.name, a.Body)
		}
	}
}
