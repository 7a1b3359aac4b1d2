package cosmos

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// ReadDatabase asks whether a database is there.
func ReadDatabase(ctx context.Context, client *azcosmos.Client, id string) error {
	database, err := client.NewDatabase(id)
	if err != nil {
		return err
	}
	_, err = database.Read(ctx, nil)
	return err
}

// CreateDatabase makes a database.
func CreateDatabase(ctx context.Context, client *azcosmos.Client, id string, throughput Throughput) error {
	_, err := client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: id}, &azcosmos.CreateDatabaseOptions{ThroughputProperties: throughput.properties()})
	return err
}

// Throughput is what a database or a container is made with, in RU a second:
// one of the two, or none for the service's default.
type Throughput struct{ Manual, AutoscaleMax int32 }

func (t Throughput) properties() *azcosmos.ThroughputProperties {
	var p azcosmos.ThroughputProperties
	switch {
	case t.Manual > 0:
		p = azcosmos.NewManualThroughputProperties(t.Manual)
	case t.AutoscaleMax > 0:
		p = azcosmos.NewAutoscaleThroughputProperties(t.AutoscaleMax)
	default:
		return nil
	}
	return &p
}
