// Command hello is the complete program of the landing page, README.md. It
// needs an account: COSMOS_ENDPOINT, with COSMOS_KEY or an identity.
package main
