package scenarios_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/layout"
)

// shape is how the branch of a run is stored.
type shape struct {
	// paths are the partition key of its container; nil is the default one. With a city in it, a and its branch stand in two cities.
	paths []string
	// former says that half of it is stored under former names of the types.
	former bool
	// capacity is that of its buckets; 0 is 2. There are none where notes lie in cities.
	capacity int
	// drift is how much the clock of each process is ahead of that of the one before it.
	drift time.Duration
	// apart says that comments and replies lie in a container of their own, under the default key, so that comments can move between cities.
	apart bool
	// keeps names what a delete leaves; empty is all, to be restored.
	keeps string
	// noMarks says that the documents hold no marks of writes.
	noMarks bool
	// before is what was done to it before the calls.
	before []treeVerb
}

func (s shape) String() string {
	return fmt.Sprintf("no marks %v, key %v, apart %v, former names %v, capacity %d, drift %v, keeps %q, after %v", s.noMarks, s.paths, s.apart, s.former, s.capacity, s.drift, s.keeps, s.before)
}

func (s shape) hasCities() bool { return slices.Contains(s.paths, "/city") }

// at is where a document of the model lies, as In takes it, and its id there: what has a capital stands in Rome, under the id of another that stands in Bonn.
func (s shape) at(id string) (string, []any) {
	switch {
	case !s.hasCities():
		return id, nil
	case id != strings.ToLower(id):
		return strings.ToLower(id), []any{"Rome"}
	}
	return id, []any{"Bonn"}
}

// below is at for comments and replies.
func (s shape) below(id string) (string, []any) {
	if s.apart {
		return id, nil
	}
	return s.at(id)
}

// seen is the id of the model.
func (s shape) seen(id, city string) string {
	if s.hasCities() && city == "Rome" {
		return strings.ToUpper(id)
	}
	return id
}

// seenBelow is seen of comments and replies.
func (s shape) seenBelow(id, city string) string {
	if s.apart {
		return id
	}
	return s.seen(id, city)
}

// policies are those of notes, comments and replies.
func (s shape) policies() [3]parented.Policy {
	soft, tombstone := parented.Policy{Retain: 24 * time.Hour}, parented.Policy{Tombstone: 12 * time.Hour}
	switch s.keeps {
	case "nothing":
		return [3]parented.Policy{}
	case "tombstones":
		return [3]parented.Policy{tombstone, tombstone, tombstone}
	case "notes":
		return [3]parented.Policy{soft, {}, tombstone}
	case "comments":
		return [3]parented.Policy{tombstone, soft, {}}
	case "replies":
		return [3]parented.Policy{{}, {}, soft}
	}
	return [3]parented.Policy{soft, soft, soft}
}

// namesBelow is names of comments and replies.
func (s shape) namesBelow(present string, formerly bool) repository.Config {
	if s.apart {
		s.paths = nil
	}
	return s.names(present, formerly)
}

// names are those of one of the types.
func (s shape) names(present string, formerly bool) repository.Config {
	cfg := repository.Config{PartitionKey: s.paths, EntityType: present}
	if s.noMarks {
		cfg.Layout = &layout.Layout{NoMarks: true}
	}
	switch {
	case s.former && formerly:
		cfg.EntityType, cfg.Aliases = "Former"+present, []string{present}
	case s.former:
		cfg.Aliases = []string{"Former" + present}
	}
	return cfg
}
