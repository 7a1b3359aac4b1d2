variable "resource_group" {
  type = string
}

variable "account" {
  type = string
}

variable "principal_id" {
  type        = string
  description = "The object id of the identity that the application runs as."
}

data "azurerm_cosmosdb_account" "account" {
  name                = var.account
  resource_group_name = var.resource_group
}

resource "azurerm_cosmosdb_sql_database" "notes" {
  name                = "notes"
  resource_group_name = var.resource_group
  account_name        = var.account
}

locals {
  containers = {
    "documents"    = ["/tenantId", "/entityType"]
    "lookups"      = ["/tenantId", "/lookupType"]
    "grove-leases" = ["/id"]
  }
}

resource "azurerm_cosmosdb_sql_container" "container" {
  for_each              = local.containers
  name                  = each.key
  resource_group_name   = var.resource_group
  account_name          = var.account
  database_name         = azurerm_cosmosdb_sql_database.notes.name
  partition_key_paths   = each.value
  partition_key_kind    = length(each.value) > 1 ? "MultiHash" : "Hash"
  partition_key_version = 2
  default_ttl           = -1
}

resource "azurerm_cosmosdb_sql_role_assignment" "application" {
  resource_group_name = var.resource_group
  account_name        = var.account
  # Cosmos DB Built-in Data Contributor, for this database alone.
  role_definition_id = "${data.azurerm_cosmosdb_account.account.id}/sqlRoleDefinitions/00000000-0000-0000-0000-000000000002"
  principal_id       = var.principal_id
  scope              = "${data.azurerm_cosmosdb_account.account.id}/dbs/${azurerm_cosmosdb_sql_database.notes.name}"
}
