package main

import "go.uber.org/fx"

// entities is replaced by generated code.
func entities() []fx.Option { return nil }
