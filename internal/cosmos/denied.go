package cosmos

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
)

// The service's substatus codes of 403 for what an Entra ID identity may not
// do: no role of the data plane has such an action; or none that was assigned.
const (
	substatusNotInDataPlane = "5300"
	substatusNoPermission   = "5301"
)

// Denial is the service's refusal for want of a right.
type Denial struct {
	// Action is the missing action of the data plane, such as
	// "Microsoft.DocumentDB/databaseAccounts/readMetadata"; empty where no role
	// of the data plane has it, and where the service did not say.
	Action string
	// Scope is where it is missing: "/", "/dbs/{db}" or "/dbs/{db}/colls/{c}".
	Scope string

	command string // the management plane's, where no role has the action
}

// DenialOf reads an error for the service's refusal of an identity; nil when
// it is none. Of the service's text only the names of actions are taken over.
func DenialOf(err error) *Denial {
	var response *azcore.ResponseError
	if !errors.As(err, &response) || response.StatusCode != http.StatusForbidden || response.RawResponse == nil {
		return nil
	}
	resp := response.RawResponse
	text := messageOf(resp)
	switch sub := resp.Header.Get("x-ms-substatus"); {
	case sub == substatusNotInDataPlane, sub != substatusNoPermission && strings.Contains(text, "cannot be authorized by AAD token in data plane"):
		d := &Denial{Scope: scopeOf(resp.Request)}
		d.command = managementCommand(resp.Request)
		return d
	case sub == substatusNoPermission, strings.Contains(text, "does not have required RBAC permissions"):
		d := &Denial{Scope: scopeOf(resp.Request)}
		if found := missingAction.FindString(text); slices.Contains(dataActions(), strings.ToLower(found)) {
			d.Action = found
		}
		return d
	}
	return nil
}

// Hint says which right is missing and how it is given.
func (d *Denial) Hint() string {
	if d.command != "" {
		return "no role of the data plane allows this to an identity; use the account's key, or the management plane: " + d.command
	}
	what := "the identity's roles lack an action"
	if d.Action != "" {
		what = "the identity's roles lack the action " + d.Action
	}
	return fmt.Sprintf("%s on %s; a role that has it is given with: az cosmosdb sql role assignment create --account-name $ACCOUNT --resource-group $GROUP "+
		"--principal-id $PRINCIPAL --role-definition-id %s --scope %q", what, d.Scope, d.role(), d.Scope)
}

// The ids of the built-in roles, the same in every account.
const (
	dataReaderRole      = "00000000-0000-0000-0000-000000000001"
	dataContributorRole = "00000000-0000-0000-0000-000000000002"
)

// role is the smallest built-in role that has the action.
func (d *Denial) role() string {
	switch strings.ToLower(d.Action[strings.LastIndexByte(d.Action, '/')+1:]) {
	case "readmetadata", "executequery", "readchangefeed", "read":
		return dataReaderRole
	}
	return dataContributorRole
}

var missingAction = regexp.MustCompile(`(?i)Microsoft\.DocumentDB/databaseAccounts/[a-z/]+`)

// dataActions are the actions that roles of the data plane may have, in lower case.
// Source: https://learn.microsoft.com/azure/cosmos-db/nosql/reference-data-plane-security
func dataActions() []string {
	const account = "microsoft.documentdb/databaseaccounts/"
	const container = account + "sqldatabases/containers/"
	return []string{
		account + "readmetadata",
		container + "executequery", container + "readchangefeed", container + "executestoredprocedure", container + "manageconflicts",
		container + "items/create", container + "items/read", container + "items/replace", container + "items/upsert", container + "items/delete",
	}
}

func messageOf(resp *http.Response) string {
	body, err := runtime.Payload(resp)
	if err != nil {
		return ""
	}
	var answer struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return ""
	}
	return answer.Message
}

// scopeOf is the container, database or account that a request is about, as a
// role assignment names it.
func scopeOf(r *http.Request) string {
	if r == nil {
		return "/"
	}
	parts := pathOf(r)
	switch {
	case len(parts) >= 4 && parts[0] == "dbs" && parts[2] == "colls":
		return "/" + strings.Join(parts[:4], "/")
	case len(parts) >= 2 && parts[0] == "dbs":
		return "/" + strings.Join(parts[:2], "/")
	}
	return "/"
}

func pathOf(r *http.Request) []string {
	path := strings.Trim(r.URL.EscapedPath(), "/")
	if path == "" {
		return nil
	}
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if plain, err := url.PathUnescape(p); err == nil {
			parts[i] = plain
		}
	}
	return parts
}

// managementCommand is how that is done without the data plane.
func managementCommand(r *http.Request) string {
	const suffix = " --account-name $ACCOUNT --resource-group $GROUP"
	if r == nil {
		return "az cosmosdb sql --help"
	}
	parts := pathOf(r)
	verb := map[string]string{http.MethodPost: "create", http.MethodPut: "update", http.MethodDelete: "delete", http.MethodGet: "show"}[r.Method]
	switch {
	case len(parts) > 0 && parts[0] == "offers":
		return "az cosmosdb sql container throughput show" + suffix + " --database-name $DATABASE --name $CONTAINER (or: update --throughput N)"
	case len(parts) == 3 && parts[2] == "colls":
		return fmt.Sprintf("az cosmosdb sql container create%s --database-name %q --name $CONTAINER --partition-key-path $PATHS", suffix, parts[1])
	case len(parts) == 4 && parts[2] == "colls":
		return fmt.Sprintf("az cosmosdb sql container %s%s --database-name %q --name %q", verb, suffix, parts[1], parts[3])
	case len(parts) == 1 && parts[0] == "dbs":
		return "az cosmosdb sql database create" + suffix + " --name $DATABASE"
	case len(parts) == 2 && parts[0] == "dbs":
		return fmt.Sprintf("az cosmosdb sql database %s%s --name %q", verb, suffix, parts[1])
	}
	return "az cosmosdb sql --help"
}
