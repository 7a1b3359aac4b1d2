package registry

import (
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/cosmosgrove/grove/tenantitem"
)

// The environment's names for an account.
const (
	endpointVariable         = "COSMOS_ENDPOINT"
	keyVariable              = "COSMOS_KEY"
	connectionStringVariable = "COSMOS_CONNECTION_STRING"
)

// account is where to connect; an empty key means an identity.
type account struct{ endpoint, key string }

// account reads the configuration, and the environment when it names none.
func (cfg ClientConfig) account() (account, error) {
	a := account{cfg.Endpoint, cfg.Key}
	if cfg.AccountKey != nil {
		if cfg.Key != "" || cfg.ConnectionString != "" || cfg.Endpoint == "" {
			return account{}, &tenantitem.InvalidError{What: "client", Reason: "AccountKey is set with Key or ConnectionString, or without Endpoint", Hint: "set Endpoint and AccountKey alone"}
		}
		if a.key = cfg.AccountKey.key.Text(); a.key == "" {
			return account{}, &tenantitem.InvalidError{What: "client", Reason: "AccountKey holds no key", Hint: "make it with registry.NewAccountKey"}
		}
	}
	text, from := cfg.ConnectionString, "ConnectionString"
	if a == (account{}) && text == "" {
		getenv := cfg.Getenv
		if getenv == nil {
			getenv = os.Getenv
		}
		if text, from = getenv(connectionStringVariable), connectionStringVariable; text == "" {
			a = account{getenv(endpointVariable), getenv(keyVariable)}
		}
	}
	if text != "" {
		if a != (account{}) {
			return account{}, &tenantitem.InvalidError{What: "client", Reason: "ConnectionString is set with Endpoint or Key", Hint: "set one or the other"}
		}
		var err error
		if a, err = parseConnectionString(from, text); err != nil {
			return account{}, err
		}
	}
	return a, a.validate(cfg.AllowPlainHTTP)
}

func (a account) validate(plain bool) error {
	if a.endpoint == "" {
		return &tenantitem.InvalidError{What: "client", Reason: "no account is named", Hint: "set " + endpointVariable + " (and " + keyVariable + ", or use an identity), or " + connectionStringVariable}
	}
	u, err := url.Parse(a.endpoint)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return &tenantitem.InvalidError{What: "account endpoint", Reason: "it is not the URL of an account", Hint: "write it as https://NAME.documents.azure.com/"}
	}
	if u.Scheme == "http" && a.key == "" {
		return &tenantitem.InvalidError{What: "account endpoint", Reason: "an identity's token may not travel over plain HTTP", Hint: "use https, or a key"}
	}
	if u.Scheme == "http" && !plain && !isLoopback(u.Hostname()) {
		return &tenantitem.InvalidError{What: "account endpoint", Reason: "what the key signs would travel over plain HTTP to another host", Hint: "use https, or set ClientConfig.AllowPlainHTTP for an emulator on a network of its own"}
	}
	return nil
}

// isLoopback reports whether a host is this machine: what is sent to it passes
// no network.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback() || host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// parseConnectionString reads what the SDK's own parser does not: several
// fields after the key, in any order. The text itself stays out of errors.
func parseConnectionString(from, text string) (account, error) {
	var a account
	for field := range strings.SplitSeq(text, ";") {
		name, setting, _ := strings.Cut(field, "=")
		switch name = strings.TrimSpace(name); {
		case strings.EqualFold(name, "AccountEndpoint"):
			a.endpoint = strings.TrimSpace(setting)
		case strings.EqualFold(name, "AccountKey"):
			a.key = strings.TrimSpace(setting)
		case strings.EqualFold(name, "DisableServerCertificateValidation") && strings.EqualFold(strings.TrimSpace(setting), "true"):
			return account{}, &tenantitem.InvalidError{What: from, Reason: "it switches the verification of certificates off", Hint: "take DisableServerCertificateValidation away and give Go the server's certificate in SSL_CERT_FILE"}
		}
	}
	if a.endpoint == "" || a.key == "" {
		return account{}, &tenantitem.InvalidError{What: from, Reason: "it lacks AccountEndpoint or AccountKey", Hint: "write AccountEndpoint=URL;AccountKey=KEY"}
	}
	return a, nil
}
