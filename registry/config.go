package registry

import (
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/internal/engine"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/ceiling"
	"github.com/cosmosgrove/grove/tenantitem"
)

// DefaultContainer is the id of the container of all entity types that name none.
const DefaultContainer = "documents"

// Config says what the database looks like. Only Database is required.
type Config struct {
	// Database is the id of the database.
	Database string
	// Name tells the modules of an fx application with several databases or
	// accounts apart. Everything that [Module] provides has this name then, as
	// in `name:"billing"`; entity types are registered with it by [Of]. It takes the client of that
	// name, or the one without where there is none. Without fx it does
	// nothing. Defaults to none: one module of an application may have none.
	Name string
	// DefaultContainer is the id of the container of every entity type that is
	// registered without In. It need not stand in Containers; when it does, it
	// is made as described there. Defaults to [DefaultContainer].
	DefaultContainer string
	// Containers are the containers that need a description: another key, a
	// time to live, indexes, throughput.
	Containers []Container
	// Provision creates the database and its containers at start-up where they
	// are missing. Leave it off where they are made by other means, such as
	// infrastructure as code, or where the identity may not create them
	// (Microsoft Entra roles of the data plane may not); they are compared
	// with this description either way.
	Provision bool
	// Throughput is shared by the containers that have none of their own. It
	// is used when the database is created and never afterwards. Leave it out
	// for serverless accounts. Defaults to none.
	Throughput Throughput
	// CursorKey signs page cursors. Give every process of a service the same
	// secret of at least 16 bytes, or a cursor is good only in the process
	// that made it. Defaults to a random key.
	CursorKey []byte
	// Logger gets what happens at start-up: what was created (Info), and
	// differences that are no error (Warn). Defaults to [slog.Default].
	Logger *slog.Logger
	// Telemetry is where the repositories report what they do. Its Logger
	// defaults to the Logger above.
	Telemetry repository.Telemetry
	// Ceiling bounds the request units a second that each tenant, and all
	// together, may spend in this process. What is left is shared fairly.
	// Defaults to none.
	Ceiling *ceiling.Ceiling
	// Upkeep is how often the application looks for deletes that another
	// process began and did not finish: one query of every physical partition
	// for each entity type with children. Defaults to 10 minutes; a negative one
	// never looks, which leaves it to [Database.Upkeep] or parented's Resume
	// elsewhere.
	Upkeep time.Duration
}

// Container describes one container.
type Container struct {
	// ID is the container's id, up to 255 characters without / \ ? # or ".
	ID string
	// PartitionKey are the paths of the key, 1 to 3, of any name, nested ones
	// too. Entity types without a [WithLayout] need "/tenantId" as the first. It can't
	// be changed later. Defaults to /tenantId and /entityType.
	PartitionKey []string
	// DefaultTTL is how long documents live after their last write, in whole
	// seconds, unless they say otherwise in their ttl. Defaults to TTLOn, by
	// which a document without a ttl stays. TTLOff refuses entity types that
	// need a time to live, and writes that set a ttl.
	DefaultTTL time.Duration
	// UniqueKeys are sets of paths whose values may occur together only once
	// in a logical partition. A missing value counts as a value. They can't be
	// added or changed later.
	UniqueKeys [][]string
	// Indexing is the indexing policy. Its mode defaults to consistent, and
	// its paths to everything, so that a policy may name its composite indexes
	// alone. Defaults to the service's policy: every path, no composite index.
	Indexing *azcosmos.IndexingPolicy
	// Throughput is the container's own. It is used when the container is
	// created and never afterwards, since it is changed while a service runs.
	// Defaults to none: the database's, or the service's default.
	Throughput Throughput
}

// The states of a container's time to live that are not durations.
const (
	// TTLOn lets documents expire by their own ttl; those without one stay.
	TTLOn time.Duration = -1
	// TTLOff is for a container whose time to live is off. A ttl on a document
	// would do nothing there, so a write that sets one is refused.
	TTLOff time.Duration = math.MinInt64
)

// maxTTL is the service's limit in seconds.
const maxTTL = math.MaxInt32

// Throughput is what a new container or database is given, in request units a
// second. At most one field may be set; none leaves it to the service.
type Throughput struct {
	// Manual is a fixed rate, at least 400.
	Manual int32
	// AutoscaleMax is the highest rate of a range that begins at a tenth of
	// it; at least 1000.
	AutoscaleMax int32
}

func (t Throughput) validate(what string) error {
	if t.Manual != 0 && t.AutoscaleMax != 0 {
		return &tenantitem.InvalidError{What: what, Reason: "Manual and AutoscaleMax are both set", Hint: "set one"}
	}
	if t.Manual < 0 || t.AutoscaleMax < 0 {
		return &tenantitem.InvalidError{What: what, Reason: "it is negative", Hint: "give request units a second"}
	}
	return nil
}

// WithDefaults returns a copy in which every field that has a default is set.
func (c Config) WithDefaults() Config {
	if c.DefaultContainer == "" {
		c.DefaultContainer = DefaultContainer
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Telemetry.Logger == nil {
		c.Telemetry.Logger = c.Logger
	}
	if c.Upkeep == 0 {
		c.Upkeep = defaultUpkeep
	}
	c.Containers = slices.Clone(c.Containers)
	return c
}

func (c Container) withDefaults() Container {
	if len(c.PartitionKey) == 0 {
		c.PartitionKey = engine.DefaultPartitionKey()
	}
	if c.DefaultTTL == 0 {
		c.DefaultTTL = TTLOn
	}
	if c.Indexing != nil {
		c.Indexing = completeIndexing(c.Indexing)
	}
	return c
}

func (c Container) validate(what string) error {
	if err := validateResourceID(what, c.ID); err != nil {
		return err
	}
	what = fmt.Sprintf("%s, container %q", what, c.ID)
	if err := validateKey(what, c.PartitionKey); err != nil {
		return err
	}
	if ttl := c.DefaultTTL; ttl != TTLOn && ttl != TTLOff && (ttl < 0 || ttl%time.Second != 0 || ttl/time.Second > maxTTL) {
		return &tenantitem.InvalidError{What: what, Reason: fmt.Sprintf("its DefaultTTL is %v", ttl), Hint: "use whole seconds, at most 68 years, or TTLOn or TTLOff"}
	}
	for _, key := range c.UniqueKeys {
		if len(key) == 0 || slices.ContainsFunc(key, func(p string) bool { return !strings.HasPrefix(p, "/") }) {
			return &tenantitem.InvalidError{What: what, Reason: "a unique key has no paths, or one that does not begin with a slash", Hint: `write paths such as "/email"`}
		}
	}
	return c.Throughput.validate(what)
}

func validateKey(what string, paths []string) error {
	fail := func(reason, hint string) error {
		return &tenantitem.InvalidError{What: what, Reason: reason, Hint: hint}
	}
	if len(paths) > tenantitem.MaxKeyLevels {
		return fail(fmt.Sprintf("its partition key has %d levels", len(paths)), "use 1 to 3 paths")
	}
	for i, path := range paths {
		if len(path) < 2 || path[0] != '/' || strings.HasSuffix(path, "/") || strings.Contains(path, "//") || strings.ContainsAny(path, "\"[]*?") {
			return fail(fmt.Sprintf("its partition key has the path %q", path), `write paths such as "/lookupType"`)
		}
		if slices.Contains(paths[:i], path) {
			return fail(fmt.Sprintf("its partition key has the path %q twice", path), "leave one out")
		}
	}
	return nil
}

// validateResourceID checks the id of a database or container. azcosmos puts
// it into JSON as it is, so a quote would end the text there.
func validateResourceID(what, id string) error {
	fail := func(reason string) error {
		return &tenantitem.InvalidError{What: what, Reason: reason, Hint: `use letters, digits and "-"`}
	}
	switch {
	case id == "":
		return fail("its id is empty")
	case len(id) > 255:
		return fail("its id is longer than 255 bytes")
	case strings.ContainsAny(id, `/\?#"`) || strings.HasSuffix(id, " "):
		return fail(fmt.Sprintf("its id %q holds a character that can't stand in one", id))
	}
	for _, r := range id {
		if r < 0x20 || r == 0x7f {
			return fail("its id holds a control character")
		}
	}
	return nil
}
