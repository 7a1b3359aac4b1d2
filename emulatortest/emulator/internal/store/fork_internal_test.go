package store

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestForkKnowsEveryField fails when a field is added to what a fork copies: whoever adds one decides in fork.go what
// becomes of it, and then names it here.
func TestForkKnowsEveryField(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		of    any
		known string
	}{
		{Account{}, "opts mu databases offers serial lag parsed visited"},
		{Database{}, "account serial resource mu containers clientKeys users deleted"},
		{Container{}, "account database serial name rid ridBytes self scripts sequence forced topology resource definition partitions " +
			"nextRange generation lag deleted"},
		{partition{}, "c id min max parents created version mu state page history replica recent durable"},
		{replica{}, "lag visible arriving"},
		{offer{}, "serial resource target targetSelf throughput budget highest pendingUntil"},
		{budget{}, "mu rate left since"},
		{forcedLimit{}, "rate budget"},
	} {
		kind := reflect.TypeOf(c.of)
		known := strings.Fields(c.known)
		for i := range kind.NumField() {
			if name := kind.Field(i).Name; !slices.Contains(known, name) {
				t.Errorf("%s has the new field %s: decide in fork.go what a fork does with it, and name it here", kind, name)
			}
		}
	}
}
