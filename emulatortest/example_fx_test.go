package emulatortest_test

import (
	"fmt"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.uber.org/fx"

	"github.com/cosmosgrove/grove/emulatortest"
)

// An application runs until the test ends; what the test needs of it comes with fx.Populate.
func ExampleFX() {
	inTest("TestMine", func(t *testing.T) {
		type service struct{ client *azcosmos.Client }
		var s *service
		emulatortest.FX(t, fx.Options(
			fx.Provide(func(client *azcosmos.Client) *service { return &service{client} }),
			fx.Populate(&s),
		))
		_, err := s.client.CreateDatabase(t.Context(), azcosmos.DatabaseProperties{ID: "shop"}, nil)
		fmt.Println(err)
	})
	// Output:
	// <nil>
}
