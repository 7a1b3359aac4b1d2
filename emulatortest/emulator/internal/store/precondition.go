package store

import "net/http"

// Precondition is what a caller demands of the present state: etags with their quotes, "*", or nothing.
type Precondition struct{ IfMatch, IfNoneMatch string }

// check refuses with 412 unless the present etag is the demanded one.
func (p Precondition) check(etag string) error {
	if p.IfMatch != "" && p.IfMatch != "*" && p.IfMatch != etag {
		return refuse(http.StatusPreconditionFailed, 0, textPrecondition)
	}
	return nil
}

// unchanged reports whether a read may answer 304.
func (p Precondition) unchanged(etag string) bool {
	return p.IfNoneMatch == "*" || p.IfNoneMatch != "" && p.IfNoneMatch == etag
}
