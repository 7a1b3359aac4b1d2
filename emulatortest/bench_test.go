package emulatortest_test

import (
	"fmt"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
)

// What each test pays before it begins. The account answers its first request, since a client alone asks for nothing.
func BenchmarkFreshAccount(b *testing.B) {
	b.Run("with a database", func(b *testing.B) {
		for b.Loop() {
			if _, err := emulatortest.Client(b).CreateDatabase(b.Context(), azcosmos.DatabaseProperties{ID: "db"}, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("with a database and a container", func(b *testing.B) {
		for b.Loop() {
			newContainer(b, emulatortest.Client(b), "/pk")
		}
	})
}

func BenchmarkPointRead(b *testing.B) {
	c := newContainer(b, emulatortest.Client(b), "/pk")
	create(b, c, pk("a"), `{"id":"1","pk":"a","text":"some text"}`)
	for b.Loop() {
		if _, err := c.ReadItem(b.Context(), pk("a"), "1", nil); err != nil {
			b.Fatal(err)
		}
	}
}

// The cost of a query in one logical partition must not depend on the rest of the container.
func BenchmarkSinglePartitionQuery(b *testing.B) {
	for _, others := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("among %d items", others), func(b *testing.B) {
			c := newContainer(b, emulatortest.Client(b), "/pk")
			for i := range others {
				key := fmt.Sprint("other", i%100)
				create(b, c, pk(key), fmt.Sprintf(`{"id":"%d","pk":%q,"n":%d}`, i, key, i))
			}
			for i := range 20 {
				create(b, c, pk("mine"), fmt.Sprintf(`{"id":"%d","pk":"mine","n":%d}`, i, i))
			}
			for b.Loop() {
				if _, err := c.NewQueryItemsPager("SELECT * FROM c WHERE c.n >= 10", pk("mine"), &azcosmos.QueryOptions{}).NextPage(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
