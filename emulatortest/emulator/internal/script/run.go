package script

import (
	"context"
	_ "embed"
	"net/http"
	"net/url"
	"strings"

	"github.com/dop251/goja"
	"github.com/google/uuid"
)

//go:embed api.js
var apiSource string

// Script is a stored script.
type Script struct{ ID, Body string }

// Environment is what a run works with.
type Environment struct {
	World
	Collection Collection
	// Logging collects what console.log says.
	Logging bool
	// Header gives the request's headers to getRequest().getValue(name); nil gives none.
	Header http.Header
}

// Outcome is what a run gives back.
type Outcome struct {
	// Body is the response's body as JSON for a procedure and for a trigger that runs after the operation, the request's for
	// one that runs before it.
	Body []byte
	// Log is what console.log collected, in the form of its header.
	Log string
	// Charge is what the operations of the run cost, in request units.
	Charge float64
}

// RunProcedure calls a stored procedure with arguments in JSON. The error is an [*Error].
func RunProcedure(ctx context.Context, s Script, arguments []byte, env Environment) (Outcome, error) {
	r := newRun(env)
	err := r.session.run(ctx, func() error {
		list := r.session.decodeArguments(arguments)
		r.offer(message{"Body": readOnly(r.session.rt.ToValue(list))}, message{"Body": writable(r.session.rt.ToValue(""), maxResponse)})
		return r.execute(s, list...)
	})
	return r.outcome(err, r.response)
}

// RunBefore calls a trigger before an operation such as "Create" on a document in JSON; nil for a deletion. The outcome's
// body is the document as the trigger left it. The error is an [*Error].
func RunBefore(ctx context.Context, s Script, operation string, document []byte, env Environment) (Outcome, error) {
	r := newRun(env)
	err := r.session.run(ctx, func() error {
		body := r.session.document(document)
		r.offer(message{"Body": writable(body, 0), "OperationType": readOnly(r.session.rt.ToValue(operation))}, nil)
		return r.execute(s)
	})
	return r.outcome(err, r.request)
}

// RunAfter calls a trigger after an operation on a document, with the document as it was stored. The outcome's body is the
// answer as the trigger left it. The error is an [*Error].
func RunAfter(ctx context.Context, s Script, operation string, document, stored []byte, env Environment) (Outcome, error) {
	r := newRun(env)
	err := r.session.run(ctx, func() error {
		r.offer(message{"Body": readOnly(r.session.document(document)), "OperationType": readOnly(r.session.rt.ToValue(operation))},
			message{
				"Body": writable(r.session.document(stored), maxResponse), "OperationType": readOnly(r.session.rt.ToValue(operation)),
				"MaxResourceQuota": readOnly(r.session.rt.ToValue(quota)), "ResourceQuotaCurrentUsage": readOnly(r.session.rt.ToValue(quota)),
			})
		return r.execute(s)
	})
	return r.outcome(err, r.response)
}

// quota stands for the container's size, which the emulator does not limit.
const quota = "documentSize=0;documentsSize=0;documentsCount=-1;collectionSize=0;"

// property is one named part of a request or response.
type property struct {
	value    goja.Value
	writable bool
	most     int
}

type message map[string]property

func readOnly(v goja.Value) property           { return property{value: v} }
func writable(v goja.Value, most int) property { return property{value: v, writable: true, most: most} }

// run is one run with its queue of operations.
type run struct {
	session           *session
	env               Environment
	queue             []queued
	request, response *goja.Object
	charge            float64
	log               strings.Builder
}

type queued struct {
	operation Operation
	callback  goja.Callable
}

func newRun(env Environment) *run { return &run{session: newSession(env.World), env: env} }

// decodeArguments reads the array that a procedure is called with.
func (s *session) decodeArguments(arguments []byte) []goja.Value {
	list := s.decode(string(arguments)).ToObject(s.rt)
	values := make([]goja.Value, s.elements(list))
	for i := range values {
		values[i] = list.Get(s.rt.ToValue(i).String())
	}
	return values
}

// document is a document as a script sees it; undefined for none.
func (s *session) document(text []byte) goja.Value {
	if text == nil {
		return goja.Undefined()
	}
	return s.decode(string(text))
}

// offer sets up the API. A run without a response is one of a trigger that comes before the operation.
func (r *run) offer(request, response message) {
	s := r.session
	program := s.rt.NewObject()
	newID := r.env.NewID
	if newID == nil {
		newID = uuid.NewString
	}
	if r.env.Header != nil {
		for name := range r.env.Header {
			if lower := strings.ToLower(name); lower != "authorization" {
				request[lower] = readOnly(s.rt.ToValue(r.env.Header.Get(name)))
			}
		}
	}
	r.request = r.properties(request)
	s.must(program.Set("request", r.request))
	if response != nil {
		r.response = r.properties(response)
		s.must(program.Set("response", r.response))
	}
	for name, v := range map[string]any{
		"selfLink": r.env.Collection.SelfLink(), "altLink": r.env.Collection.AltLink(), "logging": r.env.Logging,
		"submit": r.submit, "accepts": r.accepts, "abort": r.abort, "log": r.write, "next": r.next, "sort": r.sort, "newID": newID,
	} {
		s.must(program.Set(name, v))
	}
	v, err := s.rt.RunScript("api.js", apiSource)
	s.must(err)
	setup, _ := goja.AssertFunction(v)
	s.call(setup, goja.Undefined(), program)
}

func (r *run) properties(m message) *goja.Object {
	o := r.session.rt.NewObject()
	for name, p := range m {
		entry := r.session.rt.NewObject()
		r.session.must(entry.Set("value", p.value))
		r.session.must(entry.Set("writable", p.writable))
		r.session.must(entry.Set("most", p.most))
		r.session.must(o.Set(name, entry))
	}
	return o
}

// execute calls the script and then the operations that it queued, one after the other, until none is left.
func (r *run) execute(s Script, arguments ...goja.Value) error {
	f, err := r.session.load(s.ID, s.Body)
	if err != nil {
		return err
	}
	if _, err := f(goja.Undefined(), arguments...); err != nil {
		return err
	}
	for len(r.queue) > 0 {
		next := r.queue[0]
		r.queue = r.queue[1:]
		if err := r.perform(next); err != nil {
			return err
		}
	}
	return nil
}

// accepts reports whether an operation may still be queued.
func (r *run) accepts() bool {
	return float64(now().Sub(r.session.started)) < acceptedShare*float64(r.session.limits.Time) && r.charge < r.session.limits.Charge
}

func (r *run) submit(call goja.FunctionCall) goja.Value {
	r.session.check()
	callback, _ := goja.AssertFunction(call.Argument(1))
	if !r.accepts() {
		return r.session.rt.ToValue(false)
	}
	if len(r.queue) >= maxPending {
		r.session.throw("RangeError", "The script queues more than %d operations at once.", maxPending)
	}
	r.queue = append(r.queue, queued{operationOf(call.Argument(0).ToObject(r.session.rt)), callback})
	return r.session.rt.ToValue(true)
}

func operationOf(o *goja.Object) Operation {
	text := func(from *goja.Object, name string) string {
		v := from.Get(name)
		if v == nil || goja.IsUndefined(v) || goja.IsNull(v) {
			return ""
		}
		return v.String()
	}
	op := Operation{
		Kind: Kind(text(o, "kind")), IfMatch: text(o, "etag"), IfNoneMatch: text(o, "ifNoneMatch"),
		Continuation: text(o, "continuation"), Unindexed: strings.EqualFold(text(o, "indexAction"), "exclude"),
		EnableScan: text(o, "enableScan") == "true",
	}
	if body := o.Get("body"); body != nil {
		op.Body = []byte(body.String())
	}
	if size := o.Get("pageSize"); size != nil {
		op.PageSize = int(size.ToInteger())
	}
	if target, ok := o.Get("target").(*goja.Object); ok {
		op.ID, op.RID = text(target, "id"), text(target, "rid")
	}
	return op
}

// perform runs one operation and hands its answer to the script.
func (r *run) perform(q queued) error {
	s := r.session
	s.check()
	reply, err := Reply{}, error(nil)
	if q.operation.Kind != nothing {
		reply, err = r.env.Collection.Do(q.operation)
	}
	r.charge += reply.Charge
	if err != nil {
		refusal, ok := err.(*Error) //nolint:errorlint // the interface asks for this very type
		if !ok {
			return err
		}
		o := s.rt.NewObject()
		s.must(o.Set("status", refusal.Status))
		s.must(o.Set("message", listed(refusal.Message)))
		_, err := q.callback(goja.Undefined(), o)
		return err
	}
	o, options := s.rt.NewObject(), s.rt.NewObject()
	s.must(o.Set("body", string(reply.Body)))
	s.must(o.Set("options", options))
	s.must(options.Set("statusCode", reply.Status))
	s.must(options.Set("currentCollectionSizeInMB", quota))
	s.must(options.Set("maxCollectionSizeInMB", quota))
	if reply.Status == http.StatusNotModified {
		s.must(options.Set("notModified", true))
	}
	if reply.Continuation != "" {
		s.must(options.Set("continuation", reply.Continuation))
	}
	_, err = q.callback(goja.Undefined(), goja.Undefined(), o)
	return err
}

// abort ends the script as an exception that it can't catch would.
func (r *run) abort(call goja.FunctionCall) goja.Value {
	text := call.Argument(0).String()
	if o, ok := call.Argument(0).(*goja.Object); ok {
		if stack := o.Get("stack"); stack != nil && !goja.IsUndefined(stack) {
			text += "\r\nStack trace: " + stack.String()
		}
	}
	r.session.stop(thrown(call.Argument(0), text))
	r.session.check()
	return goja.Undefined()
}

func (r *run) write(text string) {
	if r.log.Len()+len(text) <= maxLog {
		r.log.WriteString(text)
	}
}

// next reads documents for the query API.
func (r *run) next(call goja.FunctionCall) goja.Value {
	s := r.session
	s.check()
	documents, last, err := r.env.Collection.Next(call.Argument(0).String(), int(call.Argument(1).ToInteger()))
	if err != nil {
		panic(halt{err}) //nolint:forbidigo // see check
	}
	list := make([]any, len(documents))
	for i, d := range documents {
		list[i] = string(d)
	}
	o := s.rt.NewObject()
	s.must(o.Set("documents", s.rt.NewArray(list...)))
	s.must(o.Set("after", last))
	return o
}

// outcome gathers what the run leaves: the body of the message that it may write.
func (r *run) outcome(err error, from *goja.Object) (Outcome, error) {
	out := Outcome{Charge: r.charge, Log: strings.ReplaceAll(url.QueryEscape(r.log.String()), "+", "%20")}
	if err != nil {
		return out, err
	}
	err = r.session.run(context.Background(), func() error {
		thrown := r.session.rt.Try(func() {
			body := from.Get("Body").ToObject(r.session.rt).Get("value")
			text, ok := r.session.encode(body)
			if !ok {
				text = `""`
			}
			out.Body = []byte(text)
		})
		if thrown != nil {
			return thrown
		}
		return nil
	})
	return out, err
}
