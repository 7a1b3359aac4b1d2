//go:build race

package repository_test

// underRace says that the race detector runs, under which pools lose what they hold at random.
const underRace = true
