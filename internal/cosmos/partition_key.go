package cosmos

import "github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

// PartitionKey names a logical partition in a request.
type PartitionKey = azcosmos.PartitionKey

// NewPartitionKey makes the key of validated values: string, float64 or bool.
// Without any it names no partition, as a query across partitions does.
func NewPartitionKey(values ...any) PartitionKey {
	key := azcosmos.NewPartitionKey()
	for _, v := range values {
		switch v := v.(type) {
		case string:
			key = key.AppendString(v)
		case float64:
			key = key.AppendNumber(v)
		case bool:
			key = key.AppendBool(v)
		}
	}
	return key
}

// StringKey is the key of one level that holds a text.
func StringKey(value string) PartitionKey { return azcosmos.NewPartitionKeyString(value) }
