package registry

import (
	"strings"
	"testing"
)

// Whatever a connection string looks like, no error repeats its key.
func FuzzConnectionString(f *testing.F) {
	const secret = "c2VjcmV0IHNlY3JldCBzZWNyZXQ="
	for _, seed := range []string{
		"AccountEndpoint=https://a.example/;AccountKey=" + secret + ";",
		"AccountEndpoint=https://a.example/;AccountKey=" + secret + ";Database=notes;",
		"accountkey=" + secret + " ; accountendpoint = https://a.example/",
		"AccountKey=" + secret + ";DisableServerCertificateValidation=True",
		"AccountEndpoint=;AccountKey=" + secret,
		"AccountKey;" + secret + "=;;=",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		cfg := ClientConfig{ConnectionString: text + ";AccountKey=" + secret}
		if text == "" {
			return
		}
		a, err := cfg.account()
		switch {
		case err != nil && strings.Contains(err.Error(), secret):
			t.Errorf("the error quotes the key: %v", err)
		case err == nil && (a.endpoint == "" || a.key != secret):
			t.Errorf("read as %+v", a)
		}
	})
}
