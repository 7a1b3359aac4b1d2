package account

import (
	"net/http"
	"strconv"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// Meter is a policy that counts the answers of a client and what they cost.
type Meter struct {
	mu       sync.Mutex
	requests int64
	units    float64
}

// Do counts one attempt.
func (m *Meter) Do(req *policy.Request) (*http.Response, error) {
	response, err := req.Next()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests++
	if response != nil {
		if units, parseErr := strconv.ParseFloat(response.Header.Get("x-ms-request-charge"), 64); parseErr == nil {
			m.units += units
		}
	}
	return response, err
}

// Read returns what was counted so far.
func (m *Meter) Read() (requests int64, requestUnits float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.requests, m.units
}
