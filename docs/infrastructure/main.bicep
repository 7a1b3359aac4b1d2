param account string

@description('The object id of the identity that the application runs as.')
param principalId string

var containers = [
  { name: 'documents', paths: ['/tenantId', '/entityType'] }
  { name: 'lookups', paths: ['/tenantId', '/lookupType'] }
  { name: 'grove-leases', paths: ['/id'] }
]

resource cosmos 'Microsoft.DocumentDB/databaseAccounts@2024-11-15' existing = {
  name: account
}

resource notes 'Microsoft.DocumentDB/databaseAccounts/sqlDatabases@2024-11-15' = {
  parent: cosmos
  name: 'notes'
  properties: {
    resource: { id: 'notes' }
  }
}

resource container 'Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers@2024-11-15' = [
  for c in containers: {
    parent: notes
    name: c.name
    properties: {
      resource: {
        id: c.name
        partitionKey: {
          paths: c.paths
          kind: length(c.paths) > 1 ? 'MultiHash' : 'Hash'
          version: 2
        }
        defaultTtl: -1
      }
    }
  }
]

// Cosmos DB Built-in Data Contributor, for this database alone.
resource application 'Microsoft.DocumentDB/databaseAccounts/sqlRoleAssignments@2024-11-15' = {
  parent: cosmos
  name: guid(cosmos.id, principalId, 'notes')
  properties: {
    roleDefinitionId: '${cosmos.id}/sqlRoleDefinitions/00000000-0000-0000-0000-000000000002'
    principalId: principalId
    scope: '${cosmos.id}/dbs/${notes.name}'
  }
}
