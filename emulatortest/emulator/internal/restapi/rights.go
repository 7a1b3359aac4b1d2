package restapi

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/faults"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// The actions of the data plane, as Microsoft's reference names them.
const (
	ActionReadMetadata     = "Microsoft.DocumentDB/databaseAccounts/readMetadata"
	actionContainers       = "Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers/"
	ActionAnyOfContainers  = actionContainers + "*"
	ActionExecuteQuery     = actionContainers + "executeQuery"
	ActionReadChangeFeed   = actionContainers + "readChangeFeed"
	ActionExecuteProcedure = actionContainers + "executeStoredProcedure"
	ActionManageConflicts  = actionContainers + "manageConflicts"
	ActionAnyOfItems       = actionContainers + "items/*"
	ActionCreateItem       = actionContainers + "items/create"
	ActionReadItem         = actionContainers + "items/read"
	ActionReplaceItem      = actionContainers + "items/replace"
	ActionUpsertItem       = actionContainers + "items/upsert"
	ActionDeleteItem       = actionContainers + "items/delete"
)

// Role is what an Entra ID identity may do, and where.
type Role struct {
	// Scope is "/" for the account, "/dbs/{db}" for a database or "/dbs/{db}/colls/{c}" for a container, by names.
	Scope string
	// Actions are those of the data plane; one may end in * for all that begin so.
	Actions []string
}

// allows reports whether the role has an action on a resource.
func (r Role) allows(action, resource string) bool {
	scope := strings.TrimSuffix(r.Scope, "/")
	if resource != scope && !strings.HasPrefix(resource, scope+"/") {
		return false
	}
	return r.has(action)
}

func (r Role) has(action string) bool {
	for _, a := range r.Actions {
		if prefix, wildcard := strings.CutSuffix(a, "*"); strings.EqualFold(a, action) ||
			wildcard && len(action) >= len(prefix) && strings.EqualFold(action[:len(prefix)], prefix) {
			return true
		}
	}
	return false
}

// Principals are the identities that roles were assigned to. The zero value has none.
type Principals struct {
	mu    sync.RWMutex
	roles map[string][]Role
}

// Assign gives an identity these roles, in the place of any before.
func (p *Principals) Assign(id string, roles ...Role) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.roles == nil {
		p.roles = map[string][]Role{}
	}
	p.roles[id] = roles
}

// Fork gives a copy that goes on by itself.
func (p *Principals) Fork() *Principals {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return &Principals{roles: maps.Clone(p.roles)}
}

// contributor is what an identity may do to which no role was assigned: that of the tokens that Microsoft's emulators take.
var contributor = []Role{{Scope: "/", Actions: []string{ActionReadMetadata, ActionAnyOfContainers}}}

func (p *Principals) of(id string) []Role {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if roles, ok := p.roles[id]; ok {
		return roles
	}
	return contributor
}

// principal is a caller that came with an Entra ID token, or with a resource token; one with the account key is none, and has every right.
type principal struct {
	id    string
	token *resourceToken
}

// actionsOf are the actions that an operation needs, all of them. An operation that is not here can't be allowed to an identity at all.
// Queries of the SDKs need two; batches have the needs of their operations.
func actionsOf(op faults.Operation) ([]string, bool) {
	switch op {
	case faults.ReadAccount, faults.ReadDatabase, faults.ListDatabases, faults.QueryDatabases, faults.ReadContainer, faults.ListContainers,
		faults.QueryContainers, faults.ReadPartitionKeyRanges:
		return []string{ActionReadMetadata}, true
	case faults.QueryItems, faults.QueryPlan:
		return []string{ActionExecuteQuery, ActionReadChangeFeed}, true
	case faults.ChangeFeed, faults.ListItems:
		return []string{ActionReadChangeFeed}, true
	case faults.CreateItem:
		return []string{ActionCreateItem}, true
	case faults.ReadItem:
		return []string{ActionReadItem}, true
	case faults.ReplaceItem, faults.PatchItem:
		return []string{ActionReplaceItem}, true
	case faults.UpsertItem:
		return []string{ActionUpsertItem}, true
	case faults.DeleteItem, faults.DeleteItemsByPartition:
		return []string{ActionDeleteItem}, true
	case faults.ExecuteStoredProcedure:
		return []string{ActionExecuteProcedure}, true
	case faults.ListConflicts, faults.ReadConflict, faults.DeleteConflict:
		return []string{ActionManageConflicts}, true
	case faults.TransactionalBatch, faults.Bulk:
		return nil, true
	}
	return nil, false
}

// actionOfStep is the action that an operation of a batch needs.
func actionOfStep(kind store.OperationKind) string {
	switch kind {
	case store.OpCreate:
		return ActionCreateItem
	case store.OpUpsert:
		return ActionUpsertItem
	case store.OpDelete:
		return ActionDeleteItem
	case store.OpRead:
		return ActionReadItem
	}
	return ActionReplaceItem
}

// The service's substatus codes for what an identity may not do.
const (
	substatusNotInDataPlane = 5300
	substatusNoPermission   = 5301
)

// permit refuses an operation for which the caller's roles don't suffice.
func (c *call) permit(op faults.Operation) *store.Error {
	if c.caller == nil {
		return nil
	}
	if c.caller.token != nil {
		return c.permitByToken(op)
	}
	actions, ok := actionsOf(op)
	if !ok {
		return fail(http.StatusForbidden, substatusNotInDataPlane, fmt.Sprintf("Request blocked by Auth %s : The given request [%s /%s] cannot be "+
			"authorized by AAD token in data plane. Learn more: https://aka.ms/cosmos-native-rbac.", accountName, c.method, c.link))
	}
	for _, action := range actions {
		if e := c.permitAction(op, action); e != nil {
			return e
		}
	}
	return nil
}

// permitAction refuses what no role of the caller has on the resource. Every client reads the account first, whatever the scope of its role.
func (c *call) permitAction(op faults.Operation, action string) *store.Error {
	if c.caller == nil || c.caller.token != nil {
		return nil
	}
	resource := c.resourcePath()
	for _, role := range c.h.cfg.Principals.of(c.caller.id) {
		if role.allows(action, resource) || op == faults.ReadAccount && role.has(action) {
			return nil
		}
	}
	return fail(http.StatusForbidden, substatusNoPermission, fmt.Sprintf("Request blocked by Auth %s : Request is blocked because principal [%s] does not "+
		"have required RBAC permissions to perform action [%s] on resource [%s]. Learn more: https://aka.ms/cosmos-native-rbac.",
		accountName, c.caller.id, action, cmp.Or(strings.TrimPrefix(resource, "/"), "/")))
}

// resourcePath is what a role's scope has to cover.
func (c *call) resourcePath() string {
	path := ""
	if c.link.database != "" {
		path += "/dbs/" + c.link.database
	}
	if c.link.container != "" {
		path += "/colls/" + c.link.container
	}
	return path
}
