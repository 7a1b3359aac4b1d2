package registry

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// Difference is a property of a container that is not as registered. That the
// registrations themselves contradict each other is found before, by [NewPlan].
type Difference struct {
	// Container is the container's id.
	Container string
	// Property is what differs, such as "partition key".
	Property string
	// Registered and Live are the two values.
	Registered, Live string
	// Fatal says that the application would be wrong: it would not find
	// documents, lose or keep them against its word, or allow duplicates.
	// Others make it slower or dearer. Database.Prepare fails with the fatal ones
	// and logs the others as warnings; it changes no container that exists.
	Fatal bool
	// Hint says the next action.
	Hint string
}

// String returns one line with both values.
func (d Difference) String() string {
	return fmt.Sprintf("%s of container %q: registered %s, live %s (%s)", d.Property, d.Container, d.Registered, d.Live, d.Hint)
}

// DriftError says that a live container contradicts its registration.
type DriftError struct {
	// Database is the database's id.
	Database string
	// Differences are the fatal ones.
	Differences []Difference
}

// Error names every fatal difference with both values.
func (e *DriftError) Error() string {
	lines := make([]string, len(e.Differences))
	for i, d := range e.Differences {
		lines[i] = d.String()
	}
	return fmt.Sprintf("registry: database %q is not as registered: %s", e.Database, strings.Join(lines, "; "))
}

func errorOf(database string, all []Difference) error {
	fatal := slices.DeleteFunc(slices.Clone(all), func(d Difference) bool { return !d.Fatal })
	if len(fatal) == 0 {
		return nil
	}
	return &DriftError{Database: database, Differences: fatal}
}

// compare lists what a live container has otherwise, for visit in provision.go: Database.Prepare
// fails with what is fatal of it, and Check reports all.
func compare(c Container, live *azcosmos.ContainerProperties) []Difference {
	var out []Difference
	differ := func(fatal bool, property, registered, found, hint string) {
		out = append(out, Difference{Container: c.ID, Property: property, Registered: registered, Live: found, Fatal: fatal, Hint: hint})
	}
	key := live.PartitionKeyDefinition
	if !slices.Equal(key.Paths, c.PartitionKey) {
		differ(true, "partition key", list(c.PartitionKey), list(key.Paths), "a key can't be changed; register the live one, or move the documents to a new container")
	} else if key.Version != 2 {
		differ(false, "partition key version", "2", fmt.Sprint(key.Version), "values longer than 101 bytes share a partition; move to a new container when they occur")
	}
	compareTTL(c, live, differ)
	compareUnique(c, live, differ)
	if c.Indexing == nil {
		return out
	}
	want, have := indexingParts(c.Indexing), indexingParts(live.IndexingPolicy)
	for _, part := range []string{"indexing mode", "included paths", "excluded paths", "composite indexes", "spatial indexes", "vector indexes", "full-text indexes"} {
		if !slices.Equal(want[part], have[part]) {
			differ(false, part, shown(want[part]), shown(have[part]), "change the container's indexing policy, or the registration; the service re-indexes in the background")
		}
	}
	return out
}

func compareTTL(c Container, live *azcosmos.ContainerProperties, differ func(bool, string, string, string, string)) {
	var have int32
	if live.DefaultTimeToLive != nil {
		have = *live.DefaultTimeToLive
	}
	want, _ := c.ttlSeconds()
	registered, found := ttlText(want), ttlText(have)
	switch {
	case want == have:
	case have == 0:
		differ(true, "time to live", registered, found, "turn it on, or register TTLOff: until then no document expires")
	case want <= 0 && have > 0:
		differ(true, "time to live", registered, found, "register it as DefaultTTL, or take it from the container: documents disappear")
	default:
		differ(false, "time to live", registered, found, "change the container's or the registered one")
	}
}

func ttlText(seconds int32) string {
	switch seconds {
	case 0:
		return "off"
	case -1:
		return "on without a default"
	}
	return (time.Duration(seconds) * time.Second).String()
}

func compareUnique(c Container, live *azcosmos.ContainerProperties, differ func(bool, string, string, string, string)) {
	want := uniqueTexts(c.UniqueKeys)
	var keys [][]string
	if live.UniqueKeyPolicy != nil {
		for _, key := range live.UniqueKeyPolicy.UniqueKeys {
			keys = append(keys, key.Paths)
		}
	}
	have := uniqueTexts(keys)
	if slices.Equal(want, have) {
		return
	}
	missing := slices.ContainsFunc(want, func(key string) bool { return !slices.Contains(have, key) })
	differ(missing, "unique keys", shown(want), shown(have), "unique keys can't be changed; register the live ones, or move the documents to a new container")
}

// uniqueTexts makes keys comparable: neither the order of keys nor that of
// paths in a key means anything.
func uniqueTexts(keys [][]string) []string {
	texts := make([]string, len(keys))
	for i, paths := range keys {
		texts[i] = "(" + strings.Join(slices.Sorted(slices.Values(paths)), ", ") + ")"
	}
	slices.Sort(texts)
	return texts
}

func shown(texts []string) string {
	if len(texts) == 0 {
		return "none"
	}
	return strings.Join(texts, ", ")
}
