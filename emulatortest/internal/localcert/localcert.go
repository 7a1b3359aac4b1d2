// Package localcert makes the certificates with which a local server speaks TLS: an authority of its own, and a
// certificate for the hosts it listens on. Clients trust the authority (SSL_CERT_FILE for Go and many others,
// NODE_EXTRA_CA_CERTS for Node), so that nobody has to switch verification off.
package localcert

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"slices"
	"time"
)

// Certificates are a server's certificate and the authority that signed it.
type Certificates struct {
	// Server holds the certificate and its private key, for tls.Config.Certificates.
	Server tls.Certificate
	// AuthorityPEM is what clients have to trust, in PEM.
	AuthorityPEM []byte
}

// lifetime is short enough that a forgotten authority dies soon, and longer than any test or working week.
const lifetime = 30 * 24 * time.Hour

// New makes certificates for these host names and addresses, and for localhost under all its names. The authority's
// private key is forgotten at once, so that nobody can sign with it again.
func New(hosts []string, now time.Time) (*Certificates, error) {
	authorityKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("localcert: make the authority's key: %w", err)
	}
	authority, err := template("Grove emulator authority", now)
	if err != nil {
		return nil, err
	}
	authority.IsCA, authority.BasicConstraintsValid = true, true
	authority.KeyUsage = x509.KeyUsageCertSign
	authorityDER, err := x509.CreateCertificate(rand.Reader, authority, authority, authorityKey.Public(), authorityKey)
	if err != nil {
		return nil, fmt.Errorf("localcert: sign the authority: %w", err)
	}

	serverKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("localcert: make the server's key: %w", err)
	}
	server, err := template("Grove emulator", now)
	if err != nil {
		return nil, err
	}
	server.KeyUsage = x509.KeyUsageDigitalSignature
	server.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	server.DNSNames, server.IPAddresses = names(hosts)
	serverDER, err := x509.CreateCertificate(rand.Reader, server, authority, serverKey.Public(), authorityKey)
	if err != nil {
		return nil, fmt.Errorf("localcert: sign the server's certificate: %w", err)
	}
	return &Certificates{
		Server:       tls.Certificate{Certificate: [][]byte{serverDER}, PrivateKey: serverKey},
		AuthorityPEM: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authorityDER}),
	}, nil
}

func template(name string, now time.Time) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("localcert: make a serial number: %w", err)
	}
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-time.Hour), // clocks of containers lag
		NotAfter:     now.Add(lifetime),
	}, nil
}

// names sorts hosts into names and addresses. Clients are redirected to 127.0.0.1 by the account read, so localhost and
// its addresses are always among them.
func names(hosts []string) (dns []string, ips []net.IP) {
	for _, host := range append([]string{"localhost", "127.0.0.1", "::1"}, hosts...) {
		ip := net.ParseIP(host)
		switch {
		case ip != nil && !slices.ContainsFunc(ips, ip.Equal):
			ips = append(ips, ip)
		case ip == nil && host != "" && !slices.Contains(dns, host):
			dns = append(dns, host)
		}
	}
	return dns, ips
}
