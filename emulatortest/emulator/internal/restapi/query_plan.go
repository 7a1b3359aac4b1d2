package restapi

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/plan"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/vector"
)

// Query plan: POST /dbs/{db}/colls/{c}/docs with x-ms-cosmos-is-query-plan-request
//
// Supported: the plan by which a client serves a query across partitions: how to merge, the rewritten query and the ranges
// concerned. 200; 400 for a query that does not parse; 400/1004 when the plan needs a feature that
// x-ms-cosmos-supported-query-features does not name.

func (c *call) readQueryPlan() (*result, *store.Error) {
	container, e := c.parentOf()
	if e != nil {
		return nil, e
	}
	body, e := c.parseQueryBody()
	if e == nil {
		var p *plan.Plan
		if p, e = c.planOf(container, body); e == nil {
			return c.answerPlan(container, p)
		}
	}
	prefixed := *e
	prefixed.Message = "Gateway Failed to Retrieve Query Plan: " + e.Message
	return nil, &prefixed
}

func (c *call) answerPlan(container *store.Container, p *plan.Plan) (*result, *store.Error) {
	if c.opts.supportedFeatures != "" {
		supported := c.features()
		if missing := p.Missing(supported); len(missing) > 0 {
			return nil, fail(http.StatusBadRequest, substatusNotServable, fmt.Sprintf(
				"The query needs features that the client did not name in x-ms-cosmos-supported-query-features: %s.", strings.Join(missing, ", ")))
		}
	}
	r := placed(container)
	r.status, r.body, r.charge = http.StatusOK, encodeJSON(p), metadataCharge
	return r, nil
}

// substatusNotServable says that the gateway can't serve a query alone.
const substatusNotServable = 1004

// features are those that the client names.
func (c *call) features() []string {
	var supported []string
	for name := range strings.SplitSeq(c.opts.supportedFeatures, ",") {
		supported = append(supported, strings.TrimSpace(name))
	}
	return supported
}

func planContainer(d *store.Definition) plan.Container {
	return plan.Container{Paths: d.KeyTokens(), Scheme: d.Scheme, Planar: isPlanar(d.Properties)}
}

func (c *call) planOf(container *store.Container, body *queryBody) (*plan.Plan, *store.Error) {
	definition := container.Definition()
	p, err := plan.BuildWith(body.query, body.parameters, planContainer(definition), plan.Options{
		Vectors:            vector.ParsePolicy(definition.Properties.Get("vectorEmbeddingPolicy")),
		SkipOrderByRewrite: slices.Contains(c.features(), plan.FeatureSkipOrderByRewrite),
	})
	var unplannable *plan.Error
	switch {
	case errors.As(err, &unplannable):
		return nil, badRequest(unplannable.Message)
	case err != nil:
		return nil, queryRefusal(err)
	}
	return p, nil
}
