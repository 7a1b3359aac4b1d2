package restapi

import (
	"net/http"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/faults"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// operation is one entry of the protocol: its name for faults and logs, and what serves it.
type operation struct {
	name  faults.Operation
	serve func(*call) (*result, *store.Error)
}

// verbs maps the methods of one kind of link to a choice of operation; the choice may look at the headers.
type verbs map[string]func(*options) operation

func always(name faults.Operation, serve func(*call) (*result, *store.Error)) func(*options) operation {
	op := operation{name, serve}
	return func(*options) operation { return op }
}

// routes is the whole protocol in one table.
func routes() map[resourceKind]verbs {
	return map[resourceKind]verbs{
		kindAccount: {http.MethodGet: always(faults.ReadAccount, (*call).readAccount)},
		kindDatabases: {
			http.MethodGet: always(faults.ListDatabases, (*call).listDatabases),
			http.MethodPost: createOrQuery(
				operation{faults.CreateDatabase, (*call).createDatabase},
				operation{faults.QueryDatabases, (*call).queryDatabases}),
		},
		kindDatabase: {
			http.MethodGet:    always(faults.ReadDatabase, (*call).readDatabase),
			http.MethodDelete: always(faults.DeleteDatabase, (*call).deleteDatabase),
		},
		kindContainers: {
			http.MethodGet: always(faults.ListContainers, (*call).listContainers),
			http.MethodPost: createOrQuery(
				operation{faults.CreateContainer, (*call).createContainer},
				operation{faults.QueryContainers, (*call).queryContainers}),
		},
		kindContainer: {
			http.MethodGet:    always(faults.ReadContainer, (*call).readContainer),
			http.MethodPut:    always(faults.ReplaceContainer, (*call).replaceContainer),
			http.MethodDelete: always(faults.DeleteContainer, (*call).deleteContainer),
		},
		kindOffers: {
			http.MethodGet: always(faults.ListOffers, (*call).listOffers),
			http.MethodPost: createOrQuery(
				operation{faults.QueryOffers, (*call).queryOffers},
				operation{faults.QueryOffers, (*call).queryOffers}),
		},
		kindOffer: {
			http.MethodGet: always(faults.ReadOffer, (*call).readOffer),
			http.MethodPut: always(faults.ReplaceOffer, (*call).replaceOffer),
		},
		kindRange:  {http.MethodGet: always(faults.ReadPartitionKeyRanges, (*call).readRange)},
		kindRanges: {http.MethodGet: always(faults.ReadPartitionKeyRanges, (*call).readRanges)},
		kindItems: {
			http.MethodGet:  listOrFeed,
			http.MethodPost: postItems,
		},
		kindItem: {
			http.MethodGet:    always(faults.ReadItem, (*call).readItem),
			http.MethodPut:    always(faults.ReplaceItem, (*call).replaceItem),
			http.MethodDelete: always(faults.DeleteItem, (*call).deleteItem),
			http.MethodPatch:  always(faults.PatchItem, (*call).patchItem),
		},
		kindUsers: {
			http.MethodGet: always(faults.ListUsers, (*call).listUsers),
			http.MethodPost: createOrQuery(
				operation{faults.CreateUser, (*call).createUser},
				operation{faults.QueryUsers, (*call).queryUsers}),
		},
		kindUser: {
			http.MethodGet:    always(faults.ReadUser, (*call).readUser),
			http.MethodPut:    always(faults.ReplaceUser, (*call).replaceUser),
			http.MethodDelete: always(faults.DeleteUser, (*call).deleteUser),
		},
		kindPermissions: {
			http.MethodGet: always(faults.ListPermissions, (*call).listPermissions),
			http.MethodPost: createOrQuery(
				operation{faults.CreatePermission, (*call).createPermission},
				operation{faults.QueryPermissions, (*call).queryPermissions}),
		},
		kindPermission: {
			http.MethodGet:    always(faults.ReadPermission, (*call).readPermission),
			http.MethodPut:    always(faults.ReplacePermission, (*call).replacePermission),
			http.MethodDelete: always(faults.DeletePermission, (*call).deletePermission),
		},
		kindKeyDelete: {http.MethodPost: always(faults.DeleteItemsByPartition, (*call).deleteByPartitionKey)},
		kindScripts: {
			http.MethodGet: always(faults.ListScripts, (*call).listScripts),
			http.MethodPost: createOrQuery(
				operation{faults.CreateScript, (*call).createScript},
				operation{faults.QueryScripts, (*call).queryScripts}),
		},
		kindScript: {
			http.MethodGet:    always(faults.ReadScript, (*call).readScript),
			http.MethodPut:    always(faults.ReplaceScript, (*call).replaceScript),
			http.MethodDelete: always(faults.DeleteScript, (*call).deleteScript),
			http.MethodPost:   always(faults.ExecuteStoredProcedure, (*call).executeProcedure),
		},
		kindConflicts: {
			http.MethodGet: always(faults.ListConflicts, (*call).listConflicts),
			http.MethodPost: createOrQuery(
				operation{faults.ListConflicts, (*call).createConflict},
				operation{faults.ListConflicts, (*call).queryConflicts}),
		},
		kindConflict: {
			http.MethodGet:    always(faults.ReadConflict, (*call).missingConflict),
			http.MethodDelete: always(faults.DeleteConflict, (*call).missingConflict),
		},
		kindClientKeys: {
			http.MethodGet: always(faults.ListClientEncryptionKeys, (*call).listClientKeys),
			http.MethodPost: createOrQuery(
				operation{faults.CreateClientEncryptionKey, (*call).createClientKey},
				operation{faults.QueryClientEncryptionKeys, (*call).queryClientKeys}),
		},
		kindClientKey: {
			http.MethodGet:    always(faults.ReadClientEncryptionKey, (*call).readClientKey),
			http.MethodPut:    always(faults.ReplaceClientEncryptionKey, (*call).replaceClientKey),
			http.MethodDelete: always(faults.DeleteClientEncryptionKey, (*call).deleteClientKey),
		},
	}
}

func createOrQuery(create, query operation) func(*options) operation {
	return func(o *options) operation {
		if o.query {
			return query
		}
		return create
	}
}

func listOrFeed(o *options) operation {
	if o.changeFeed {
		return operation{faults.ChangeFeed, (*call).readChangeFeed}
	}
	return operation{faults.ListItems, (*call).listItems}
}

// postItems tells the operations apart that share POST …/docs. A query plan request also carries the headers of a query.
func postItems(o *options) operation {
	switch {
	case o.queryPlan:
		return operation{faults.QueryPlan, (*call).readQueryPlan}
	case o.batch && o.batchAtomic:
		return operation{faults.TransactionalBatch, (*call).runBatch}
	case o.batch:
		return operation{faults.Bulk, (*call).runBulk}
	case o.query:
		return operation{faults.QueryItems, (*call).queryItems}
	case o.upsert:
		return operation{faults.UpsertItem, (*call).upsertItem}
	}
	return operation{faults.CreateItem, (*call).createItem}
}

// minimisable says whether return=minimal empties the answer: it does so for writes of single items only.
func (c *call) minimisable() bool {
	switch c.operation {
	case faults.CreateItem, faults.UpsertItem, faults.ReplaceItem, faults.PatchItem:
		return true
	}
	return false
}

// find picks the operation of a request, or says by which rule there is none.
func (h *Handler) find(method string, l link, o *options) (operation, *store.Error) {
	if l.kind == kindUnsupported {
		return operation{name: faults.Unknown}, unsupported("Attachments are")
	}
	choose, ok := h.routes[l.kind][method]
	if !ok {
		return operation{name: faults.Unknown}, fail(http.StatusMethodNotAllowed, 0,
			"The requested verb is not supported for this kind of resource.")
	}
	op := choose(o)
	return op, o.checkTriggers(op.name)
}
