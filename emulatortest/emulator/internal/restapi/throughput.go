package restapi

import (
	"encoding/json"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// throughputAsked reads the throughput that the headers of a create request ask for.
func (c *call) throughputAsked() (store.Throughput, *store.Error) {
	t := store.Throughput{Manual: c.opts.throughput}
	if c.opts.autoscaleJSON == "" {
		return t, nil
	}
	var settings struct {
		MaxThroughput int `json:"maxThroughput"`
	}
	if err := json.Unmarshal([]byte(c.opts.autoscaleJSON), &settings); err != nil || settings.MaxThroughput <= 0 {
		return t, badRequest("The x-ms-cosmos-offer-autopilot-settings header is not JSON with a positive maxThroughput.")
	}
	t.AutoscaleMax, t.Settings = settings.MaxThroughput, c.opts.autoscaleJSON
	if t.Manual != 0 {
		return t, badRequest("Send x-ms-offer-throughput or x-ms-cosmos-offer-autopilot-settings, not both.")
	}
	return t, nil
}
