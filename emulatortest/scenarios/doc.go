// Package scenarios holds Grove's own promises as scenarios of emulatortest.Explore: each verb, each delete rule and each copy,
// under every fault at every request. docs/internals.md lists which promise each of them proves.
package scenarios
