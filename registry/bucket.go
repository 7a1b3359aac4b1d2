package registry

import (
	"fmt"
	"reflect"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// BucketOf declares small children that are kept many to a document, and what
// becomes of them when their parent is deleted, for [NewPlan]. E is the
// child's struct without a base. The buckets are stored under E's name unless
// [Named] says otherwise. With fx it is [Buckets].
func BucketOf[E, P any](rule parented.Rule, opts ...Option) Declaration {
	return declareBuckets[E, P](callSite(), rule, opts)
}

func declareBuckets[E, P any](site string, rule parented.Rule, opts []Option) Declaration {
	entry, parent, bucket := reflect.TypeFor[E](), reflect.TypeFor[P](), reflect.TypeFor[parented.Bucket[E, P]]()
	return Declaration{
		call:   fmt.Sprintf("registry.Buckets[%s, %s]", typeName(entry), typeName(parent)),
		site:   site,
		name:   typeName(entry),
		goType: bucket,
		parent: parent,
		opts:   opts,
		open: func(db *Database, s *entity, c *azcosmos.ContainerClient, cfg repository.Config) error {
			parents, err := baseOf[*P](db)
			if err != nil {
				return err
			}
			buckets, err := parented.NewBuckets[E](db.forest, parents, c, parented.BucketConfig{
				Config:   parented.Config{Config: cfg, Rule: rule, Policy: s.Policy, UniqueParentIDs: db.hasUniqueIDs(parent)},
				Capacity: s.capacity,
			})
			if err != nil {
				return err
			}
			s.made(buckets.Documents().Items())
			s.children = buckets
			return nil
		},
	}
}

// BucketsOf returns what [BucketOf] declared. It fails when the child was not
// registered in buckets under that parent.
func BucketsOf[E, P any](db *Database) (*parented.Buckets[E, P], error) {
	if s, ok := db.plan.entityOf(reflect.TypeFor[parented.Bucket[E, P]]()); ok {
		if buckets, ok := s.children.(*parented.Buckets[E, P]); ok {
			return buckets, nil
		}
	}
	entry, parent := reflect.TypeFor[E]().Name(), reflect.TypeFor[P]().Name()
	return nil, &tenantitem.InvalidError{
		What:   "buckets",
		Reason: fmt.Sprintf("%s is not registered in buckets under %s", entry, parent),
		Hint:   fmt.Sprintf("add registry.Buckets[%s, %s](rule)", entry, parent),
	}
}

// Capacity is how many entries one document of [Buckets] holds, 1 to 10,000.
// Defaults to 100.
func Capacity(entries int) Option {
	return optionFunc(func(s *entity) error {
		s.capacity = entries
		return nil
	})
}
