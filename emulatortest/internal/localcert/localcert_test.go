package localcert_test

import (
	"crypto/x509"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/internal/localcert"
)

func TestAuthorityVouchesForTheHosts(t *testing.T) {
	t.Parallel()
	now := time.Now()
	certificates, err := localcert.New([]string{"cosmos.test", "192.0.2.7", "localhost", ""}, now)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(certificates.AuthorityPEM) {
		t.Fatal("the authority is not PEM")
	}
	server, err := x509.ParseCertificate(certificates.Server.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"cosmos.test", "192.0.2.7", "localhost", "127.0.0.1", "::1"} {
		if _, err := server.Verify(x509.VerifyOptions{Roots: pool, DNSName: host, CurrentTime: now}); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	if _, err := server.Verify(x509.VerifyOptions{Roots: pool, DNSName: "other.test", CurrentTime: now}); err == nil {
		t.Error("the certificate is good for a host that was not asked for")
	}
}
