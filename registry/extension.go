package registry

// Extension is the seam for Grove's packages that serve many species at once,
// such as declared copies. It is exported for them alone and may change in any
// release.
//
// A package hands its extension to [NewPlan], or, with fx, to [Extend]. It is
// called twice: while the plan is made, when it may ask for more of species
// and containers, and once the repositories exist, before any of them is given
// out.
type Extension struct {
	// Name is what an application wrote to add it, such as "denorm.Module".
	// Two extensions of one name are an error.
	Name string
	// ServesCopies says that fields with a denorm tag are kept by this
	// extension. Without one that does, such a field is an error.
	ServesCopies bool
	// Plan checks the extension's own declarations against the catalogue and
	// says what it needs. It must do no I/O. It may be nil.
	Plan func(*Plan) error
	// Open adds the extension's hooks to the repositories. It must do no I/O.
	// It may be nil.
	Open func(*Database) error
}
