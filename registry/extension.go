package registry

import "github.com/cosmosgrove/grove/internal/catalogue"

// Extension is what another package adds to a plan: denorm's Copies.Extension
// returns one for [NewPlan]. With fx, denorm.Module adds it.
type Extension struct {
	extension //nolint:unused // read through internal/catalogue
}

// extension is how Grove's other packages fill one.
type extension = catalogue.ExtensionHandle //nolint:unused // it is embedded
