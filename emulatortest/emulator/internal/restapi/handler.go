package restapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/eval"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/faults"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/query"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/script"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// ErrCut says that a fault cut the connection: the door has to break it without an answer.
var ErrCut = errors.New("the emulator cut the connection, as a fault told it to")

// Config is what a [Handler] works on. All fields but Endpoint and Random are required.
type Config struct {
	// Account holds the data.
	Account *store.Account
	// Key is the base64 account key that requests must be signed with.
	Key string
	// WallClock is compared with the dates that clients sign.
	WallClock func() time.Time
	// Clock is the emulator's own time, which tests may turn: it drives TTL, GetCurrentDateTime() and the dates of answers.
	Clock func() time.Time
	// Wait holds a request back, on the emulator's clock, until the time is over or the context ends.
	Wait func(context.Context, time.Duration) error
	// Scripts bounds what scripts may do.
	Scripts script.Limits
	// Faults decides which requests fail on purpose.
	Faults *faults.Set
	// Random is where chance comes from; nil takes it from the process.
	Random *Random
	// Record is told of every request that was answered or cut. It is called from many goroutines.
	Record func(Exchange)
	// Consistency is the account's default level, as the account read reports it.
	Consistency string
	// Endpoint is the URL that the account read reports; empty means the address that the client used.
	Endpoint string
	// MaxBody is the largest request body in bytes; longer ones get 413.
	MaxBody int64
	// HeaderLimit is the most bytes that all headers of a request may have, the request line among them; longer ones get
	// HeaderLimitStatus, which is 400 or 431. Zero means no limit.
	HeaderLimit, HeaderLimitStatus int
	// LowerCase writes the names of answers' headers in lower case, as the service's newer gateway and HTTP/2 do.
	LowerCase bool
	// Principals are the Entra ID identities that have roles. Nil means none.
	Principals *Principals
	// Regions are those of the account. Nil is one region.
	Regions *Regions
	// KeyIsPublic refuses requests that came over another address than a loopback one, since everybody knows the key.
	KeyIsPublic bool
}

// Exchange is one request and its outcome, for the request log.
type Exchange struct {
	Operation                 faults.Operation
	Database, Container, Item string
	Status, Substatus         int
	Charge                    float64
	Partitions                int    // physical partitions visited; 0 when none was
	FanOut                    bool   // served more than one logical partition
	Loaded, Returned          int    // documents that a query had to load, and those that it gave
	Client                    string // the name that the client gave itself
	Faulted                   bool   // a fault decided about it
	Late                      bool   // it took effect after its client was told that the connection broke
	Killed                    bool   // the process of its client has ended
	Cut                       bool   // the connection was cut, so that Status never reached the client
}

// Handler speaks the REST protocol. It is an [http.Handler] and offers [Handler.Exchange] to doors that have no network.
type Handler struct {
	cfg     Config
	auth    *authenticator
	routes  map[resourceKind]verbs
	routing bool
	queries *eval.Memory
	pages   *query.PageCache
}

// queryMemory bounds what the queries of all requests hold together, besides what is stored.
const queryMemory = 768 << 20

// New checks the configuration and makes a handler.
func New(cfg Config) (*Handler, error) {
	if cfg.Regions == nil {
		cfg.Regions = NewRegions(nil, false, false)
	}
	if cfg.Principals == nil {
		cfg.Principals = &Principals{}
	}
	auth, err := newAuthenticator(cfg.Key, cfg.WallClock)
	if err != nil {
		return nil, err
	}
	return &Handler{cfg: cfg, auth: auth, routes: routes(), pages: query.NewPageCache(0), queries: eval.NewMemory(queryMemory)}, nil
}

// Fork gives a handler with the same key and manners whose configuration is what change makes of this one's.
func (h *Handler) Fork(change func(*Config)) *Handler {
	fork := *h
	fork.pages = query.NewPageCache(0)
	fork.auth = h.auth.fork()
	change(&fork.cfg)
	return &fork
}

// SetKeys makes these the account's keys, in the place of those before.
func (h *Handler) SetKeys(keys ...string) error { return h.auth.setKeys(keys...) }

// RoutingGateway gives the same handler with the manners of the service's routing gateway, which can't find items whose ids
// hold certain characters. Without it the handler has the manners of the compute gateway, which takes all ids.
func (h *Handler) RoutingGateway() *Handler {
	routing := *h
	routing.routing = true
	return &routing
}

// call is one request on its way through the handler.
type call struct {
	h          *Handler
	ctx        context.Context //nolint:containedctx // a call is the request itself, and lives as long
	method     string
	link       link
	byRID      *place     // of a link made of rids
	caller     *principal // nil with the account key
	opts       options
	header     http.Header
	body       []byte
	activityID string
	operation  faults.Operation
	client     string
	endpoint   string
	host       string
	region     string // that the host names; empty for the account's own host
	started    time.Time
}

// ServeHTTP answers over a network. A fault that cuts the connection aborts the response.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, err := h.Exchange(r)
	if err != nil {
		panic(http.ErrAbortHandler) //nolint:forbidigo // the way net/http offers to break a connection without an answer
	}
	header := w.Header()
	for name, values := range answer.Header {
		if h.cfg.LowerCase {
			header[name] = nil // keeps net/http from adding its own
			name = strings.ToLower(name)
		}
		header[name] = values
	}
	if answer.Status != http.StatusNoContent && answer.Status != http.StatusNotModified {
		header.Set("Content-Length", strconv.Itoa(len(answer.Body)))
	}
	w.WriteHeader(answer.Status)
	// The client may have gone away, which is its own affair: what was done stays done.
	_, _ = w.Write(answer.Body)
}

// Exchange serves one request. It returns [ErrCut] or the context's error when there is no answer to give.
func (h *Handler) Exchange(r *http.Request) (*Answer, error) {
	c := &call{h: h, ctx: r.Context(), method: r.Method, header: r.Header, started: time.Now(), operation: faults.Unknown}
	r = canonical(r)
	c.header = r.Header
	c.activityID = r.Header.Get("x-ms-activity-id")
	if _, err := uuid.Parse(c.activityID); err != nil {
		c.activityID = h.cfg.Random.activityID()
	}
	c.endpoint = h.endpoint(r)
	if c.host = r.Host; c.host == "" {
		c.host = r.URL.Host
	}
	c.client = clientOf(r)
	stranger := c.authenticate(r)
	if stranger != nil { // costs no memory beyond the answer, and leaves no trace
		return c.refusal(stranger, nil), nil
	}
	op, refusal := c.admit(r)
	if op.name != "" {
		c.operation = op.name
	}
	if refusal != nil {
		return c.record(c.refusal(refusal, nil), nil, Exchange{}), nil
	}
	return c.underFaults(op)
}

// admit does what comes before any effect, for a request that is known to come from a client of the account: the headers, the body and
// the route.
func (c *call) admit(r *http.Request) (operation, *store.Error) {
	if e := c.checkHeaderSize(r); e != nil {
		return operation{}, e
	}
	if e := c.resolve(); e != nil {
		return operation{}, e
	}
	if c.h.routing {
		if e := routingGatewayRefusal(c.link.item); e != nil {
			return operation{}, e
		}
	}
	opts, e := parseOptions(r.Header)
	if e != nil {
		return operation{}, e
	}
	c.opts = opts
	op, e := c.h.find(r.Method, c.link, &c.opts)
	if e == nil {
		e = c.permit(op.name)
	}
	if e == nil {
		e = c.checkRegion(op.name)
	}
	if e != nil {
		return op, e
	}
	var err error
	if c.body, err = readBody(r.Body, c.h.cfg.MaxBody); errors.Is(err, errTooLarge) {
		return op, fail(http.StatusRequestEntityTooLarge, 0, "Request size is too large")
	}
	if err != nil {
		return op, badRequest("The request body could not be read to its end.")
	}
	return op, nil
}

func (c *call) record(answer *Answer, r *result, entry Exchange) *Answer {
	entry.Operation, entry.Client = c.operation, c.client
	entry.Database, entry.Container, entry.Item = c.link.database, c.link.container, c.link.item
	entry.Status = answer.Status
	entry.Charge, _ = strconv.ParseFloat(answer.Header.Get("x-ms-request-charge"), 64)
	entry.Substatus, _ = strconv.Atoi(answer.Header.Get("x-ms-substatus"))
	if r != nil {
		entry.Partitions, entry.FanOut = r.ranges, r.fanOut
		entry.Loaded, entry.Returned = r.loaded, r.itemCount
	}
	c.h.cfg.Record(entry)
	if observe, ok := c.ctx.Value(observerKey{}).(func(Exchange)); ok {
		observe(entry)
	}
	return answer
}

var errTooLarge = errors.New("the request body is too large")

func readBody(body io.Reader, limit int64) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	b, err := io.ReadAll(io.LimitReader(body, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read the request body: %w", err)
	}
	if int64(len(b)) > limit {
		return nil, errTooLarge
	}
	return b, nil
}
