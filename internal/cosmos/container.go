package cosmos

import (
	"context"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// Container is the SDK's client of a container. Packages above keep it and
// hand it to the functions here.
type Container = azcosmos.ContainerClient

// ContainerProperties are how the service describes a container.
type ContainerProperties = azcosmos.ContainerProperties

// PartitionKeyDefinition says which paths of a document are its key.
type PartitionKeyDefinition = azcosmos.PartitionKeyDefinition

// OpenContainer returns the client of a container. It sends nothing.
func OpenContainer(client *azcosmos.Client, database, id string) (*Container, error) {
	return client.NewContainer(database, id)
}

// ContainerID is the container's name.
func ContainerID(c *Container) string { return c.ID() }

// ReadContainer reads a container's properties, and tells the host that
// answered, in lower case.
func ReadContainer(ctx context.Context, c *Container) (properties *ContainerProperties, host string, err error) {
	answer, err := c.Read(ctx, nil)
	if err != nil {
		return nil, "", err
	}
	return answer.ContainerProperties, hostOf(answer.RawResponse), nil
}

// ResourceID reads the container's resource id, which one that is made anew does not share with the former. The
// answer has no header: its session token would be that of the account's own directory.
func ResourceID(ctx context.Context, c *Container) (string, Answer, error) {
	answer, err := c.Read(ctx, nil)
	cost := Answer{Charge: float64(answer.RequestCharge)}
	if err != nil || answer.ContainerProperties == nil {
		return "", cost, err
	}
	return answer.ContainerProperties.ResourceID, cost, nil
}

func hostOf(r *http.Response) string {
	if r == nil || r.Request == nil {
		return ""
	}
	return strings.ToLower(r.Request.URL.Hostname())
}

// CreateContainer makes a container, and returns it as the service made it.
func CreateContainer(ctx context.Context, client *azcosmos.Client, database string, properties ContainerProperties, throughput Throughput) (*ContainerProperties, error) {
	d, err := client.NewDatabase(database)
	if err != nil {
		return nil, err
	}
	answer, err := d.CreateContainer(ctx, properties, &azcosmos.CreateContainerOptions{ThroughputProperties: throughput.properties()})
	return answer.ContainerProperties, err
}
