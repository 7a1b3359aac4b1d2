package emulatortest

import (
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.uber.org/fx"
	"go.uber.org/fx/fxtest"
)

// FX starts an fx application on a fresh, empty account and stops it when the test ends:
//
//	var notes *repository.Repository[Note]
//	emulatortest.FX(t, fx.Options(app.Module, fx.Populate(&notes)))
//
// It provides the *azcosmos.Client that the application would make itself; what the options bring beyond that is the
// application's. A World of [Explore] is a testing.TB too: there the client is the actor's. It returns the handle on the account, for
// faults, the clock and assertions.
func FX(t testing.TB, application fx.Option, opts ...Option) *Emulator {
	t.Helper()
	var e *Emulator
	if w, ok := t.(*World); ok {
		e = w.emulator
	} else {
		e = New(t, opts...)
	}
	app := fxtest.New(t,
		fx.Provide(func() *azcosmos.Client { return e.Client(nil) }),
		fx.NopLogger,
		application,
	)
	app.RequireStart()
	t.Cleanup(app.RequireStop)
	return e
}
