package registry_test

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
)

// A rate that is none is refused before anything is sent, written or read.
func TestARateThatIsNone(t *testing.T) {
	t.Parallel()
	e := newEstate(t, emulatortest.Client(t))
	tenants := e.db.Tenants()
	file, err := os.Create(filepath.Join(t.TempDir(), "export"))
	must(t, err)
	t.Cleanup(func() { must(t, file.Close()) })
	for name, rate := range map[string]float64{"negative": -1, "no number": math.NaN(), "infinite": math.Inf(1)} {
		ctx, tally := repository.WithTally(t.Context())
		var out bytes.Buffer
		in := bytes.NewBufferString("{}")
		for verb, do := range map[string]func() error{
			"Export": func() error {
				_, err := tenants.Export(ctx, "acme", &out, &registry.ExportOptions{RequestUnitsPerSecond: rate, Gzip: true})
				return err
			},
			"ExportFile": func() error {
				_, err := tenants.ExportFile(ctx, "acme", file, &registry.ExportOptions{RequestUnitsPerSecond: rate, Gzip: true})
				return err
			},
			"Import": func() error {
				_, err := tenants.Import(ctx, "acme", in, &registry.ImportOptions{RequestUnitsPerSecond: rate})
				return err
			},
			"Erase": func() error {
				_, err := tenants.Erase(ctx, "acme", &registry.EraseOptions{RequestUnitsPerSecond: rate})
				return err
			},
		} {
			if err := do(); !errors.Is(err, repository.ErrInvalid) {
				t.Errorf("%s with a rate that is %s: %v", verb, name, err)
			}
		}
		info, err := file.Stat()
		must(t, err)
		if tally.Requests() != 0 || out.Len() != 0 || in.Len() != 2 || info.Size() != 0 {
			t.Errorf("%d requests, %d and %d bytes written, %d left to read", tally.Requests(), out.Len(), info.Size(), in.Len())
		}
	}
}
