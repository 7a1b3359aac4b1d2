package cosmos

import (
	"context"
	"net/http"
	"reflect"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// The SDK keeps a diary of every request in its context, and copies it into
// every answer: a sixth of what a point write costs this process. Grove
// shows it nowhere, so that a call goes on without it; only an error
// gets the SDK's context back.

// withoutDiagnostics adds the policy that does so, unless the SDK traces its
// requests, which it does through the same context.
func withoutDiagnostics(o *azcosmos.ClientOptions) {
	has := func(p policy.Policy) bool { _, ours := p.(diagnosticsPolicy); return ours }
	if reflect.ValueOf(o.TracingProvider).IsZero() && !slices.ContainsFunc(o.PerCallPolicies, has) {
		o.PerCallPolicies = append(slices.Clone(o.PerCallPolicies), diagnosticsPolicy{})
	}
}

// diagnosticsPolicy runs once for each call.
type diagnosticsPolicy struct{}

// Do continues under the context that the SDK was called with.
func (diagnosticsPolicy) Do(req *policy.Request) (*http.Response, error) {
	kept := req.Raw().Context()
	call, _ := kept.Value(callKey{}).(context.Context)
	if call == nil || isAccountRead(req.Raw()) {
		return req.Next()
	}
	resp, err := req.WithContext(call).Next()
	if err == nil && resp.StatusCode >= http.StatusBadRequest && resp.Request != nil {
		resp.Request = resp.Request.WithContext(kept)
	}
	return resp, err
}

// withHeader adds a header to the requests of a call. The SDK takes it from the
// context, so that it belongs to the one that the call goes on with.
func withHeader(ctx context.Context, h http.Header) context.Context {
	return headerContext{policy.WithHTTPHeader(ctx, h)}
}

type headerContext struct{ context.Context }

// Value returns itself for the call's context, where there is one below.
func (c headerContext) Value(key any) any {
	v := c.Context.Value(key)
	if _, ok := key.(callKey); ok && v != nil {
		return c
	}
	return v
}
