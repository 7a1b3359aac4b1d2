package changefeed

import (
	"encoding/base64"
	"net/url"
	"strings"
)

// leaseNames are the ids of a processor's documents in the lease container.
//
// Leases are named as the change feed processors for .NET and Java name
// theirs (Azure/azure-cosmos-dotnet-v3, GetLeasePrefix), so that programs which
// look for theirs find these: the processor's name, the host of the account, the
// resource ids of database and container, and the range. The name stands right
// before the host, with nothing between. A container that was dropped and made
// anew has another resource id, and starts anew.
type leaseNames struct {
	prefix string // of leases
	base   string // of the other documents, which don't name the host

	processor, container string
}

func namesOf(processor, host, rid string) leaseNames {
	return leaseNames{
		prefix: processor + host + "_" + idPart(databaseRID(rid)) + "_" + idPart(rid) + "..",
		base:   processor + "." + strings.TrimRight(idPart(rid), "="),

		processor: processor, container: idPart(rid),
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
func databaseRID(rid string) string {
	raw, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(rid, "-", "/"))
	if err != nil || len(raw) < 4 {
		return rid
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
