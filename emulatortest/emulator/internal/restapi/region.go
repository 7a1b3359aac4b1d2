package restapi

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/faults"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// DefaultRegion is the name that Microsoft's emulators give to their only region.
const DefaultRegion = "South Central US"

// Regions are the regions of an account. A request goes to the region that its Host names, and to the hub when it names none.
type Regions struct {
	mu      sync.RWMutex
	names   []string // those that are there; the first is the hub, which takes the writes where only one region does
	removed []string
	// multiple says that every region takes writes of items.
	multiple bool
	// lags says that the regions beside the hub are behind it.
	lags bool
}

// NewRegions makes the regions of an account; no names at all are one region.
func NewRegions(names []string, multiple, lags bool) *Regions {
	if len(names) == 0 {
		names = []string{DefaultRegion}
	}
	return &Regions{names: slices.Clone(names), multiple: multiple, lags: lags}
}

// Fork gives a copy that goes on by itself.
func (r *Regions) Fork() *Regions {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return &Regions{names: slices.Clone(r.names), removed: slices.Clone(r.removed), multiple: r.multiple, lags: r.lags}
}

// Failover makes a region the hub, and reports whether there is one of that name.
func (r *Regions) Failover(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.Index(r.names, name)
	if i < 0 {
		return false
	}
	r.names = slices.Insert(slices.Delete(slices.Clone(r.names), i, i+1), 0, name)
	return true
}

// Remove takes a region out of the account, and reports whether it could: the last one stays.
func (r *Regions) Remove(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.Index(r.names, name)
	if i < 0 || len(r.names) == 1 {
		return false
	}
	r.names = slices.Delete(slices.Clone(r.names), i, i+1)
	r.removed = append(r.removed, name)
	return true
}

// regionSlug is a region's name as it stands in host names.
func regionSlug(name string) string { return strings.ToLower(strings.ReplaceAll(name, " ", "")) }

// regionalHost is the host of a region, given the account's: the region's name joins the first label, or stands before a host that has no
// label of the account.
func regionalHost(host, name string) string {
	bare, port := host, ""
	if h, p, err := net.SplitHostPort(host); err == nil {
		bare, port = h, ":"+p
	}
	first, rest, dotted := strings.Cut(bare, ".")
	if net.ParseIP(strings.Trim(bare, "[]")) != nil || !dotted {
		return regionSlug(name) + ".localhost" + port
	}
	return first + "-" + regionSlug(name) + "." + rest + port
}

// locate finds the region that a host names. account is the host without the region; name is empty for the account's own host.
func (r *Regions) locate(host string) (account, name string, removed bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	bare, port := host, ""
	if h, p, err := net.SplitHostPort(host); err == nil {
		bare, port = h, ":"+p
	}
	first, rest, _ := strings.Cut(bare, ".")
	for i, name := range slices.Concat(r.names, r.removed) {
		slug := regionSlug(name)
		if strings.EqualFold(bare, slug+".localhost") {
			return "127.0.0.1" + port, name, i >= len(r.names)
		}
		if n := len(first) - len(slug) - 1; n > 0 && strings.EqualFold(first[n:], "-"+slug) {
			return first[:n] + "." + rest + port, name, i >= len(r.names)
		}
	}
	return host, "", false
}

// locations lists the regions for the account document: those that take writes, and all.
func (r *Regions) locations(endpoint func(name string) string) (writable, readable []accountLocation, multiple bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, name := range r.names {
		readable = append(readable, accountLocation{Name: name, Endpoint: endpoint(name)})
	}
	if r.multiple {
		return readable, readable, true
	}
	return readable[:1], readable, false
}

// isHub reports whether a region, or the account's own endpoint, is where writes go.
func (r *Regions) isHub(name string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return name == "" || name == r.names[0]
}

func (r *Regions) count() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.names)
}

// The service's substatus codes for requests that came to the wrong region.
const (
	substatusWriteForbidden  = 3
	substatusAccountNotFound = 1008
)

// checkRegion refuses what the region of the request does not do.
func (c *call) checkRegion(op faults.Operation) *store.Error {
	regions := c.h.cfg.Regions
	_, name, removed := regions.locate(c.host)
	c.region = name
	switch {
	case removed:
		return fail(http.StatusForbidden, substatusAccountNotFound, fmt.Sprintf("The account has no region %s. Read the account again.", name))
	case !writes(op), regions.isHub(name):
		return nil
	case regions.multiple && writesItems(op):
		if isTrue(c.header, "x-ms-cosmos-allow-tentative-writes") {
			return nil
		}
	}
	return fail(http.StatusForbidden, substatusWriteForbidden, "The requested operation cannot be performed at this region")
}

// staleness is how far behind the replica is that answers a read: the hub's is not.
func (c *call) staleness(behind int) int {
	if behind == 0 && c.h.cfg.Regions.lags && c.h.cfg.Regions.isHub(c.region) {
		return store.UpToDate
	}
	return behind
}

// checkConflictPolicy refuses a container whose conflicts would be resolved in another way than by the last write, in an account that takes
// writes in several regions: here they have one copy of the data, so that there are no conflicts to resolve.
func (c *call) checkConflictPolicy(mode string) *store.Error {
	if c.h.cfg.Regions.multiple && strings.EqualFold(mode, "Custom") {
		return unsupported("Custom resolution of write conflicts between regions is")
	}
	return nil
}

// writesItems reports whether an operation writes items.
func writesItems(op faults.Operation) bool {
	switch op {
	case faults.CreateItem, faults.UpsertItem, faults.ReplaceItem, faults.DeleteItem, faults.PatchItem, faults.TransactionalBatch, faults.Bulk,
		faults.DeleteItemsByPartition, faults.ExecuteStoredProcedure:
		return true
	}
	return false
}

// writes reports whether an operation changes anything.
func writes(op faults.Operation) bool {
	switch op {
	case faults.CreateDatabase, faults.DeleteDatabase, faults.CreateContainer, faults.ReplaceContainer, faults.DeleteContainer, faults.ReplaceOffer,
		faults.CreateScript, faults.ReplaceScript, faults.DeleteScript,
		faults.CreateClientEncryptionKey, faults.ReplaceClientEncryptionKey, faults.DeleteClientEncryptionKey,
		faults.CreateUser, faults.ReplaceUser, faults.DeleteUser, faults.CreatePermission, faults.ReplacePermission, faults.DeletePermission:
		return true
	}
	return writesItems(op)
}
