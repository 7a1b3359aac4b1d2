package changefeed

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/internal/cosmos"
	"github.com/cosmosgrove/grove/internal/redact"
	"github.com/cosmosgrove/grove/tenantitem"
)

// EraseQuarantined removes the chosen changes of one container from quarantine, whatever
// processor put them there: those of a tenant, or of a person, whose data is erased. It reads all that is in quarantine of the
// container. It returns how many it removed, with an error too, and may be repeated; where
// the lease container is not there, it finds nothing. What is in quarantine of a container that was made anew since, or was
// restored elsewhere, is of another one, and is left.
//
// The erasure of package registry calls it for the lease containers of package denorm, so that only
// other processors need a call of their own. A processor that runs may put into quarantine afterwards what it
// read before, and a replica that is behind may not show what was put there a moment ago.
func EraseQuarantined(ctx context.Context, leases, container *azcosmos.ContainerClient, chosen func(Quarantined) bool) (removed int, err error) {
	if leases == nil || container == nil || chosen == nil {
		return 0, &tenantitem.InvalidError{What: "changefeed.EraseQuarantined", Reason: "a container or the choice is nil", Hint: "pass the lease container, the container of the documents and a function"}
	}
	e := quarantineEraser{leases: &leaseContainer{container: leases}}
	if err = e.find(ctx, container); err == nil {
		removed, err = e.remove(ctx, chosen)
	}
	if err != nil {
		err = fmt.Errorf("changefeed: erasing from the quarantine: %w", redact.Error(err))
	}
	return removed, err
}

type quarantineEraser struct {
	leases *leaseContainer
	found  []Quarantined
}

func (e *quarantineEraser) persist(ctx context.Context, send func() error) error {
	return persist(ctx, func(try int) bool { return wait(ctx, backoff(defaultBackoff, try)) }, send)
}

// find reads what is in quarantine of a container. What a former version stored tells its container
// by the resource id of its document.
func (e *quarantineEraser) find(ctx context.Context, container *cosmos.Container) error {
	var rid string
	err := e.persist(ctx, func() error {
		properties, _, err := cosmos.ReadContainer(ctx, container)
		if err == nil {
			rid = idPart(properties.ResourceID)
		}
		return err
	})
	if err != nil {
		return err
	}
	query := `SELECT * FROM c WHERE STARTSWITH(c["id"], "` + quarantineMark + `") AND (c["container"] = @container OR NOT IS_DEFINED(c["container"]))`
	return e.persist(ctx, func() error {
		e.found = nil
		for item, err := range e.leases.query(ctx, query, cosmos.QueryParameter{Name: "@container", Value: rid}) {
			if statusOf(err) == http.StatusNotFound && !isBehind(err) {
				return nil // no lease container
			}
			if err != nil {
				return err
			}
			var q Quarantined
			if json.Unmarshal(item, &q) != nil || q.Container == "" && containerRID(parseChange(q.Document).rid) != rid {
				continue
			}
			e.found = append(e.found, q)
		}
		return nil
	})
}

func (e *quarantineEraser) remove(ctx context.Context, chosen func(Quarantined) bool) (removed int, err error) {
	for _, q := range e.found {
		if !chosen(q) {
			continue
		}
		err := e.persist(ctx, func() error {
			_, err := e.leases.write(ctx, cosmos.Operation{Kind: cosmos.OpDelete, ID: q.ID})
			return err
		})
		if err != nil && !isMissing(err) { // replayed meanwhile, or removed by a request whose answer was lost
			return removed, err
		}
		removed++
	}
	return removed, nil
}
