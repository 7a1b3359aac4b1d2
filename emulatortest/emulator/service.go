package emulator

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/faults"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/restapi"
	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// DefaultKey is the account key that Microsoft publishes for its emulators. It is no secret and protects nothing.
const DefaultKey = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="

// Options are what a [Service] is made with. The zero value is an empty account in memory.
type Options struct {
	// Key is the base64 account key. Defaults to [DefaultKey].
	Key string
	// Clock is the emulator's time; share one between services to turn them together. Defaults to a clock of its own
	// that follows the wall clock.
	Clock *Clock
	// Scripts bounds what stored procedures, triggers and user-defined functions may do. Lower its Charge to see how a
	// procedure goes on that was stopped in the middle.
	Scripts ScriptLimits
	// Partitions is the number of physical partitions that a new container starts with. Defaults to 1.
	Partitions int
	// LogicalPartitionLimit is the number of bytes that one logical partition may hold before writes to it are 403/1014.
	// Defaults to 20 GB; set it low to see what an application does then.
	LogicalPartitionLimit int64
	// EnforceThroughput makes requests above the provisioned request units a second 429/3200. Defaults to no limit.
	EnforceThroughput bool
	// ReplicaLag is how long a write takes to reach the replica that reads come from: until then a read without the write's
	// session token sees the old state and one with it is 404/1002. Defaults to zero, no lag.
	ReplicaLag time.Duration
	// DataDir is a folder that keeps the account: what was acknowledged is there after a crash. Defaults to none, memory only.
	DataDir string
	// Consistency is the account's default level as the account read reports it: Strong, BoundedStaleness, Session,
	// ConsistentPrefix or Eventual. It changes nothing else. Defaults to Session, as most accounts have it.
	Consistency string
	// Endpoint is the URL that the account read reports to clients. Defaults to the address that the client used, which is
	// right unless a proxy changes it.
	Endpoint string
	// MaxRequestBody is the largest request in bytes; longer ones are 413. Defaults to 4 MB, so that an item or batch of more
	// than 2 MB gets the refusal of its own operation.
	MaxRequestBody int64
	// Seed makes what is left to chance repeatable when it is not zero: RAND in queries, and the activity ids of requests that
	// bring none. Etags, rids and session tokens are counted and need no seed. Defaults to true chance.
	Seed uint64
	// HeaderLimit is the most bytes that the headers of a request may have in all; more is HeaderLimitStatus. Defaults to 16 KB, as the
	// service's gateway has it; a negative number means no limit.
	HeaderLimit int
	// HeaderLimitStatus is 400, or 431 with an empty body: both have been seen of the service. Defaults to 400.
	HeaderLimitStatus int
	// LowerCaseHeaders makes the names of headers in answers over a network lower case, as the service's newer gateway and HTTP/2 have them.
	LowerCaseHeaders bool
	// LetAnyoneIn takes [DefaultKey], which is no secret, from clients that come over another address than a loopback one. Without it they
	// are 403. It does not matter with a key of your own.
	LetAnyoneIn bool
	// Regions are the names of the account's regions, the first of which takes the writes. Defaults to one, "South Central US". Of several each has
	// a host of its own, which the account document names; see the documentation for their form.
	Regions []string
	// MultipleWriteRegions lets every region take writes of items, if they have x-ms-cosmos-allow-tentative-writes. The regions have one copy of
	// the data, so that writes never conflict.
	MultipleWriteRegions bool
	// RegionLag is how long a write takes to reach the regions beside the first: reads there see the old state or, with the write's session
	// token, are 404/1002. Defaults to zero. It does not go with MultipleWriteRegions or ReplicaLag.
	RegionLag time.Duration
	// OfferReplaceTime is how long a change of throughput is called pending on the emulator's clock; meanwhile another is 400/3205. Defaults to
	// zero: it is over at once.
	OfferReplaceTime time.Duration
	// LogLimit is how many requests the log remembers. Defaults to 10,000.
	LogLimit int
}

// WithDefaults fills the fields that are zero.
func (o Options) WithDefaults() Options {
	if o.Key == "" {
		o.Key = DefaultKey
	}
	if o.Clock == nil {
		o.Clock = NewClock()
	}
	if o.Consistency == "" {
		o.Consistency = "Session"
	}
	if o.MaxRequestBody == 0 {
		o.MaxRequestBody = 4 << 20
	}
	if o.HeaderLimit == 0 {
		o.HeaderLimit = 16 << 10
	}
	if o.HeaderLimitStatus == 0 {
		o.HeaderLimitStatus = http.StatusBadRequest
	}
	return o
}

func (o Options) validate() error {
	switch o.Consistency {
	case "Strong", "BoundedStaleness", "Session", "ConsistentPrefix", "Eventual":
	default:
		return fmt.Errorf("emulator: Consistency %q is no level: use Strong, BoundedStaleness, Session, ConsistentPrefix or Eventual", o.Consistency)
	}
	if s := o.HeaderLimitStatus; s != http.StatusBadRequest && s != http.StatusRequestHeaderFieldsTooLarge {
		return fmt.Errorf("emulator: HeaderLimitStatus is %d: use 400 or 431", s)
	}
	for i, name := range o.Regions {
		if strings.TrimSpace(name) == "" || slices.Contains(o.Regions[:i], name) {
			return fmt.Errorf("emulator: Regions has %q, which is empty or named twice", name)
		}
	}
	if o.RegionLag != 0 && (o.MultipleWriteRegions || o.ReplicaLag != 0 || len(o.Regions) < 2) {
		return errors.New("emulator: RegionLag needs two Regions or more, and goes neither with MultipleWriteRegions nor with ReplicaLag")
	}
	if o.Partitions < 0 || o.Partitions > maxPartitions {
		return fmt.Errorf("emulator: Partitions is %d: use 1 to %d", o.Partitions, maxPartitions)
	}
	return nil
}

const maxPartitions = 1000

// Service is one emulated account. Its methods may be called at the same time.
type Service struct {
	account *store.Account
	handler *restapi.Handler
	random  *restapi.Random // nil without a seed
	faults  faults.Set
	clock   *Clock
	log     *Log
	key     func() string // a function prints as its address

	principals *restapi.Principals
	regions    *restapi.Regions
}

// New makes a service: an empty account, or the one that Options.DataDir holds.
func New(o Options) (*Service, error) {
	o = o.WithDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	account, err := openAccount(o)
	if err != nil {
		return nil, err
	}
	if o.ReplicaLag != 0 {
		account.SetReplicaLag(o.ReplicaLag)
	}
	if o.RegionLag != 0 {
		account.SetReplicaLag(o.RegionLag)
	}
	s := &Service{account: account, clock: o.Clock, log: newLog(o.LogLimit), key: func() string { return o.Key }, principals: &restapi.Principals{},
		regions: restapi.NewRegions(o.Regions, o.MultipleWriteRegions, o.RegionLag != 0)}
	if o.Seed != 0 {
		s.random = restapi.NewRandom(o.Seed)
	}
	s.handler, err = restapi.New(restapi.Config{
		Account:     account,
		Key:         o.Key,
		Scripts:     o.Scripts,
		WallClock:   time.Now,
		Clock:       o.Clock.Now,
		Wait:        o.Clock.Wait,
		Faults:      &s.faults,
		Random:      s.random,
		Record:      s.log.record,
		Consistency: o.Consistency,
		Endpoint:    o.Endpoint,
		MaxBody:     o.MaxRequestBody,

		Principals:        s.principals,
		Regions:           s.regions,
		HeaderLimit:       o.HeaderLimit,
		HeaderLimitStatus: o.HeaderLimitStatus,
		LowerCase:         o.LowerCaseHeaders,
		KeyIsPublic:       o.Key == DefaultKey && !o.LetAnyoneIn,
	})
	if err != nil {
		return nil, fmt.Errorf("emulator: %w", err)
	}
	return s, nil
}

// Close makes everything acknowledged durable and ends the service. Without a DataDir there is nothing to do.
func (s *Service) Close() error {
	if err := s.account.Close(); err != nil {
		return fmt.Errorf("emulator: close the account: %w", err)
	}
	return nil
}

// ServeHTTP answers a request that came over a network, with the manners of the service's compute gateway: every id that
// can be written can be read.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// RoutingGateway gives a handler of the same account with the manners of the service's routing gateway, which Microsoft's
// emulators have on port 8081: items whose ids end in a space or hold /, \, #, a percent-escape or a control character can be
// written but not be read, replaced or deleted (401, 400).
func (s *Service) RoutingGateway() http.Handler { return s.handler.RoutingGateway() }

// Key is the account key that the service began with, base64.
func (s *Service) Key() string { return s.key() }

// SetKeys makes these the account's keys, base64, in the place of those before: an account has two, so that one can be
// regenerated while clients use the other. A request that was signed with any other key is 401 from now on; tokens of Entra ID
// identities and of permissions hold the key that they were made with, and go with it.
func (s *Service) SetKeys(keys ...string) error {
	if err := s.handler.SetKeys(keys...); err != nil {
		return fmt.Errorf("emulator: %w", err)
	}
	return nil
}

// Faults are the service's faults, to be added to and cleared while it runs.
func (s *Service) Faults() *Faults { return &s.faults }

// Clock is the emulator's time.
func (s *Service) Clock() *Clock { return s.clock }

// Log tells what was asked.
func (s *Service) Log() *Log { return s.log }
