package restapi

import (
	"net/http"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// The trio of headers by which a client narrows a request to a part of a physical partition's hashes.
const (
	headerStartEPK = "x-ms-start-epk"
	headerEndEPK   = "x-ms-end-epk"
	headerKeyType  = "x-ms-read-key-type"

	// keyTypeRange is the only value of the key type that the service takes beside bounds.
	keyTypeRange = "EffectivePartitionKeyRange"
)

// textInvalidValue is the gateway's answer to a trio that it can't read.
const textInvalidValue = "One of the input values is invalid."

// parseEPK reads the trio. Its members belong together; the service's gateway refuses another key type, and an empty start beside the id
// of a range. Whether it would take one bound alone, or a key type without bounds, is unknown, and nobody sends them.
func parseEPK(o *options, h http.Header) *store.Error {
	_, hasStart := h[http.CanonicalHeaderKey(headerStartEPK)]
	_, hasEnd := h[http.CanonicalHeaderKey(headerEndEPK)]
	keyType := h.Get(headerKeyType)
	if !hasStart && !hasEnd && keyType == "" {
		return nil
	}
	o.startEPK, o.endEPK = strings.ToUpper(h.Get(headerStartEPK)), strings.ToUpper(h.Get(headerEndEPK))
	switch {
	case keyType != keyTypeRange:
		return badRequest(textInvalidValue + " Send " + headerKeyType + ": " + keyTypeRange + " with " + headerStartEPK + " and " + headerEndEPK + ".")
	case !hasStart || o.endEPK == "":
		return badRequest(textInvalidValue + " " + headerKeyType + " needs both " + headerStartEPK + " and " + headerEndEPK + ".")
	case o.startEPK == "" && o.rangeID != "":
		return badRequest(textInvalidValue + " " + headerStartEPK + " may not be empty beside a partition key range id.")
	case strings.Trim(o.startEPK+o.endEPK, "0123456789ABCDEF") != "":
		return badRequest(textInvalidValue + " " + headerStartEPK + " and " + headerEndEPK + " must be hexadecimal.")
	}
	o.hasEPK = true
	return nil
}
