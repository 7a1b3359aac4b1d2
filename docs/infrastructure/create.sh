#!/usr/bin/env bash
# Creates what an application with the database "notes" needs, and lets an identity use it:
#
#   ACCOUNT=... GROUP=... PRINCIPAL=... docs/infrastructure/create.sh
#
# PRINCIPAL is the object id of the identity that the application runs as.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

az deployment group create --resource-group "$GROUP" --template-file main.bicep \
  --parameters account="$ACCOUNT" principalId="$PRINCIPAL"

az cosmosdb sql container list --account-name "$ACCOUNT" --resource-group "$GROUP" --database-name notes \
  --query "[].{container:name, key:resource.partitionKey.paths, ttl:resource.defaultTtl}" --output table
