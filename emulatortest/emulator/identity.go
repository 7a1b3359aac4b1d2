package emulator

import (
	"encoding/base64"
	"encoding/json"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/restapi"
)

// Role is what an Entra ID identity may do, and where: a scope ("/", "/dbs/{db}" or "/dbs/{db}/colls/{c}", by names) and actions of the data
// plane. Make one with [DataReader], [DataContributor] or by hand.
type Role = restapi.Role

// The actions of the data plane, as Microsoft's reference names them. One that ends in * stands for all that begin so. Throughput, and
// the making and changing of databases, containers and scripts, are in none of them.
const (
	ActionReadMetadata     = restapi.ActionReadMetadata     // reading a container and its ranges, at a higher scope also databases and lists
	ActionAnyOfContainers  = restapi.ActionAnyOfContainers  // all that follow
	ActionExecuteQuery     = restapi.ActionExecuteQuery     // queries, together with ActionReadChangeFeed
	ActionReadChangeFeed   = restapi.ActionReadChangeFeed   // the change feed
	ActionExecuteProcedure = restapi.ActionExecuteProcedure // running stored procedures
	ActionManageConflicts  = restapi.ActionManageConflicts  // the conflicts feed
	ActionAnyOfItems       = restapi.ActionAnyOfItems       // all that follow
	ActionCreateItem       = restapi.ActionCreateItem
	ActionReadItem         = restapi.ActionReadItem // point reads
	ActionReplaceItem      = restapi.ActionReplaceItem
	ActionUpsertItem       = restapi.ActionUpsertItem
	ActionDeleteItem       = restapi.ActionDeleteItem
)

// DataReader is the built-in role of that name ("Cosmos DB Built-in Data Reader") at a scope.
func DataReader(scope string) Role {
	return Role{Scope: scope, Actions: []string{ActionReadMetadata, ActionReadItem, ActionExecuteQuery, ActionReadChangeFeed}}
}

// DataContributor is the built-in role of that name ("Cosmos DB Built-in Data Contributor") at a scope.
func DataContributor(scope string) Role {
	return Role{Scope: scope, Actions: []string{ActionReadMetadata, ActionAnyOfContainers}}
}

// AssignRoles gives an Entra ID identity these roles, in the place of any before; none at all takes every right away. The identity is named by
// its object id. An identity to which nothing was assigned is a data contributor of the account.
func (s *Service) AssignRoles(objectID string, roles ...Role) {
	s.principals.Assign(objectID, roles...)
}

// EntraToken makes an Entra ID token of an identity in the form that Microsoft's emulators take: unsigned, with the account key in the place of
// the signature. It does not expire.
func (s *Service) EntraToken(objectID string) string {
	claims, err := json.Marshal(map[string]string{"oid": objectID, "aud": "https://cosmos.azure.com"})
	if err != nil { // strings always can be written
		claims = nil
	}
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(`{"alg":"none","typ":"JWT"}`)) + "." + encode(claims) + "." + encode([]byte(s.key()))
}
