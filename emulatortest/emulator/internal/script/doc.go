// Package script runs the JavaScript that a container keeps: stored procedures, triggers and user-defined functions.
//
// A script is one function expression. [RunProcedure], [RunBefore] and [RunAfter] call it with the server-side API
// (getContext() and __), which works on a [Collection]; a [Functions] calls user-defined functions, which have no API.
//
// As in the service, an operation of the API is queued and its callback runs later, in the order of the calls, after the
// function that queued it has returned. An operation is accepted until the run has used most of its time or all of its
// request units: after that every call returns false and the script has to wrap up.
//
// The engine is goja, which can interrupt a script between two instructions but neither inside a built-in function nor
// when memory runs short. Package script therefore bounds what each built-in can do in one call (sandbox.go, guard_*.go)
// and watches the process's memory while a script runs (watch.go).
package script
