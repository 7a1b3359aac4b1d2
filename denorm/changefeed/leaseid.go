package changefeed

import (
	"encoding/base64"
	"net/url"
	"strings"
)

// leaseNames are the ids of a processor's documents in the lease container.
//
// Leases are named as the change feed processors for .NET and Java name
// theirs (Azure/azure-cosmos-dotnet-v3, GetLeasePrefix), so that whoever looks
// for theirs finds these: the processor's name, the host of the account, the
// resource ids of database and container, and the range. The name stands right
// before the host, with nothing between. A container that was dropped and made
// anew has another resource id, and starts anew.
type leaseNames struct {
	prefix string // of leases
	base   string // of the other documents, which don't name the host
}

func namesOf(processor, host, containerRID string) leaseNames {
	return leaseNames{
		prefix: processor + host + "_" + idPart(databaseRID(containerRID)) + "_" + idPart(containerRID) + "..",
		base:   processor + "." + strings.TrimRight(idPart(containerRID), "="),
	}
}

// former is how leases' ids began before they had the form of the others.
func (n leaseNames) former() string { return n.base + ".." }

// info marks that all leases were made once, and start is the document that
// tells from where.
func (n leaseNames) info() string { return n.base + ".info" }

func (n leaseNames) start() string { return n.base + ".start" }

// idPart makes a resource id fit for an id. The service writes them so already.
func idPart(rid string) string { return strings.ReplaceAll(rid, "/", "-") }

// databaseRID is the first four of a container's eight bytes.
func databaseRID(containerRID string) string {
	raw, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(containerRID, "-", "/"))
	if err != nil || len(raw) < 4 {
		return containerRID
	}
	return idPart(base64.StdEncoding.EncodeToString(raw[:4]))
}

// hostOf returns the host of an account's endpoint, without its port.
func hostOf(endpoint string) (string, bool) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Hostname() == "" {
		return "", false
	}
	return strings.ToLower(u.Hostname()), true
}
