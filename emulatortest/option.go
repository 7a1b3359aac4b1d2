package emulatortest

import (
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest/emulator"
	"github.com/cosmosgrove/grove/internal/cosmos"
)

// Option changes how an emulator or its client is made.
type Option interface{ apply(*settings) }

type settings struct {
	service   emulator.Options
	client    azcosmos.ClientOptions
	ownClient bool // client was given by the caller
	faults    []emulator.Fault
	routing   bool
	tls       bool
	// identity is the object id that clients sign in with; empty is the account key.
	identity string
	roles    []emulator.Role
	// inProcess names the first option that a real endpoint can't serve.
	inProcess string
	unkind    *uint64 // the seed of Unkind
	calm      bool    // whatever the environment says
}

// needs notes that an option can be served in this process only.
func (s *settings) needs(option string) {
	if s.inProcess == "" {
		s.inProcess = option
	}
}

type optionFunc func(*settings)

func (f optionFunc) apply(s *settings) { f(s) }

func settingsOf(opts []Option) *settings {
	s := &settings{}
	for _, o := range opts {
		o.apply(s)
	}
	if !s.ownClient {
		s.client = *cosmos.ClientOptions(nil)
	}
	return s
}

// WithClientOptions gives the client the caller's own options: pipeline policies, retries, telemetry and so on. Its
// Transport is replaced by the emulator's door, and is kept against a real endpoint. As in production, a client for Grove
// needs what repository.ClientOptions adds to them.
func WithClientOptions(o azcosmos.ClientOptions) Option {
	return optionFunc(func(s *settings) { s.client, s.ownClient = o, true })
}

// WithPartitions makes new containers start with n physical partitions instead of one.
func WithPartitions(n int) Option {
	return optionFunc(func(s *settings) {
		s.service.Partitions = n
		s.needs("WithPartitions")
	})
}

// WithClock makes the emulator go by that clock, which may be shared by several emulators.
func WithClock(c *emulator.Clock) Option {
	return optionFunc(func(s *settings) {
		s.service.Clock = c
		s.needs("WithClock")
	})
}

// WithFault arms faults before the first request.
func WithFault(f ...emulator.Fault) Option {
	return optionFunc(func(s *settings) {
		s.faults = append(s.faults, f...)
		s.needs("WithFault")
	})
}

// WithReplicaLag makes reads come from a replica that a write takes d to reach, on the emulator's clock: a read without the
// write's session token sees the old state, and one with it is 404/1002 until then. It catches code that doesn't keep track of session tokens.
func WithReplicaLag(d time.Duration) Option {
	return optionFunc(func(s *settings) {
		s.service.ReplicaLag = d
		s.needs("WithReplicaLag")
	})
}

// WithThroughputLimit makes the emulator keep to the throughput that containers were created with: requests above it are
// 429 with a retry time.
func WithThroughputLimit() Option {
	return optionFunc(func(s *settings) {
		s.service.EnforceThroughput = true
		s.needs("WithThroughputLimit")
	})
}

// WithLogicalPartitionLimit sets how many bytes one logical partition may hold, in place of 20 GB: writes above it are 403/1014.
func WithLogicalPartitionLimit(bytes int64) Option {
	return optionFunc(func(s *settings) {
		s.service.LogicalPartitionLimit = bytes
		s.needs("WithLogicalPartitionLimit")
	})
}

// WithScriptLimits bounds what stored procedures, triggers and user-defined functions may do, in place of 5 seconds, 50,000
// request units and 256 MB. With few request units the operations of a procedure are soon no longer accepted, so that a
// test sees how it goes on.
func WithScriptLimits(l emulator.ScriptLimits) Option {
	return optionFunc(func(s *settings) {
		s.service.Scripts = l
		s.needs("WithScriptLimits")
	})
}

// WithConsistency sets the default level that the account read reports. It changes nothing else.
func WithConsistency(level azcosmos.ConsistencyLevel) Option {
	return optionFunc(func(s *settings) {
		s.service.Consistency = string(level)
		s.needs("WithConsistency")
	})
}

// WithHeaderLimit sets how many bytes the headers of a request may have in all, in place of 16 KB, and the status of a longer one: 400, or
// 431 with an empty body.
func WithHeaderLimit(bytes, status int) Option {
	return optionFunc(func(s *settings) {
		s.service.HeaderLimit, s.service.HeaderLimitStatus = bytes, status
		s.needs("WithHeaderLimit")
	})
}

// WithLowerCaseHeaders makes the names of headers in answers of [Serve] lower case. In this process it changes nothing: there the Go client's
// own rules of names hold, as behind a network.
func WithLowerCaseHeaders() Option {
	return optionFunc(func(s *settings) {
		s.service.LowerCaseHeaders = true
		s.needs("WithLowerCaseHeaders")
	})
}

// WithOfferReplaceTime makes every change of throughput pending for that long, on the emulator's clock: another one is 400/3205 until then.
func WithOfferReplaceTime(d time.Duration) Option {
	return optionFunc(func(s *settings) {
		s.service.OfferReplaceTime = d
		s.needs("WithOfferReplaceTime")
	})
}

// WithRegions gives the account these regions, the first of which takes the writes. [emulator.Service.Failover] changes that.
func WithRegions(names ...string) Option {
	return optionFunc(func(s *settings) {
		s.service.Regions = names
		s.needs("WithRegions")
	})
}

// WithMultipleWriteRegions gives the account these regions, all of which take writes.
func WithMultipleWriteRegions(names ...string) Option {
	return optionFunc(func(s *settings) {
		s.service.Regions, s.service.MultipleWriteRegions = names, true
		s.needs("WithMultipleWriteRegions")
	})
}

// WithRegionLag keeps the regions beside the first of [WithRegions] that far behind it, on the emulator's clock.
func WithRegionLag(d time.Duration) Option {
	return optionFunc(func(s *settings) {
		s.service.RegionLag = d
		s.needs("WithRegionLag")
	})
}

// WithRoutingGateway gives the emulator the manners of the service's routing gateway, by which items with certain
// characters in their ids can be written but not be read; see [emulator.Service.RoutingGateway].
func WithRoutingGateway() Option {
	return optionFunc(func(s *settings) {
		s.routing = true
		s.needs("WithRoutingGateway")
	})
}

// WithDataDir keeps the account in a folder: another emulator opened on it later finds everything that was acknowledged.
func WithDataDir(dir string) Option {
	return optionFunc(func(s *settings) {
		s.service.DataDir = dir
		s.needs("WithDataDir")
	})
}

// WithTLS makes [Serve] speak HTTPS with a certificate that only [Server]'s clients trust. It changes nothing elsewhere.
func WithTLS() Option {
	return optionFunc(func(s *settings) { s.tls = true })
}
