package changefeed

import (
	"errors"
	"net"
	"net/netip"
	"strings"
)

// isMalformedAddress reports whether nothing was dialled or looked up because the address is none.
func isMalformedAddress(err error) bool {
	var address *net.AddrError
	var network net.UnknownNetworkError
	var lookup *net.DNSError
	switch {
	case errors.As(err, &address):
		return address.Err != noSuitableAddress
	case errors.As(err, &lookup):
		return lookup.Err == unrecognizedAddress || !canBeLookedUp(lookup.Name)
	}
	return errors.As(err, &network)
}

const (
	// noSuitableAddress is net's text for a name that has addresses, of which none is of
	// the network that was asked for: names change.
	noSuitableAddress = "no suitable address found"
	// unrecognizedAddress is its text for an address that a name was asked of.
	unrecognizedAddress = "unrecognized address"
)

// canBeLookedUp reports whether a name is an IP address, or such that DNS may know it
// (RFC 1035, 2.3.4; with the underscores of services). net says of any other one that it was
// not found, and of "tcp/smpt" that the port is none, and asks nobody.
func canBeLookedUp(name string) bool {
	const maxName, maxLabel = 253, 63
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	name = strings.TrimSuffix(name, ".")
	if len(name) > maxName || strings.Trim(name, "0123456789.") == "" { // 256.1.1.1 is no name either
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > maxLabel || label[0] == '-' || label[len(label)-1] == '-' || strings.ContainsFunc(label, isNoneOfLabel) {
			return false
		}
	}
	return true
}

func isNoneOfLabel(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
}
