package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Getter is what [IfMatch] reads with: a scope of a repository, of children or
// anything else that finds an entity by its id.
type Getter[T any] interface {
	Get(ctx context.Context, id string) (*T, error)
}

// IfMatch returns the etag that a write has to be bound to, from the header
// If-Match: give it to the entity before Replace, to Edits.IfMatch or to
// DeleteOptions. It is empty when there is no such header; see
// Config.RequireIfMatch.
//
// One tag is returned as it is, and the write itself finds out whether it is
// still true. Only for a list of tags, or for "*", which matches whatever is
// there, the document is read first. Tags are compared as RFC 9110 wants it: a
// weak one (W/"...") matches nothing, so that a proxy that makes tags weak when
// it compresses answers turns every conditional write into a 412. What does not
// match is repository.ErrPreconditionFailed, a header that can't be read a
// [*Problem] of status 400.
func IfMatch[T any, PT tenantitem.Item[T]](r *http.Request, from Getter[T], id string) (etag string, err error) {
	return ifMatch(r, func() (string, error) {
		current, err := from.Get(r.Context(), id)
		if err != nil {
			return "", err
		}
		return PT(current).ItemMeta().ETag, nil
	})
}

// ifMatch asks for the current etag only where the header leaves it open.
func ifMatch(r *http.Request, current func() (string, error)) (etag string, err error) {
	lines := r.Header.Values("If-Match")
	if len(lines) == 0 {
		return "", nil
	}
	tags, star, err := parseTags(strings.Join(lines, ","))
	if err != nil {
		return "", &Problem{Status: http.StatusBadRequest, Code: "invalid", Detail: "If-Match: " + err.Error()}
	}
	strong := slices.DeleteFunc(tags, func(tag string) bool { return strings.HasPrefix(tag, "W/") })
	switch {
	case !star && len(strong) == 0:
		return "", fmt.Errorf("httpapi: If-Match names weak tags only: %w", repository.ErrPreconditionFailed)
	case !star && len(strong) == 1:
		return strong[0], nil
	}
	now, err := current()
	if err != nil {
		return "", err
	}
	if !star && !slices.Contains(strong, now) {
		return "", fmt.Errorf("httpapi: If-Match: %w", repository.ErrPreconditionFailed)
	}
	return now, nil
}

// tagError says where a list of tags can't be read. It quotes nothing.
type tagError struct {
	at   int
	want string
}

func (e *tagError) Error() string { return fmt.Sprintf("want %s at character %d", e.want, e.at+1) }

// parseTags reads the value of If-Match: "*", or a list of tags with their
// quotes and the W/ of the weak ones. Empty members of a list are passed over,
// as RFC 9110 (5.6.1) asks of those who read.
func parseTags(s string) (tags []string, star bool, err error) {
	const blank = " \t"
	if strings.Trim(s, blank) == "*" {
		return nil, true, nil
	}
	for i := 0; i < len(s); {
		if s[i] == ',' || strings.IndexByte(blank, s[i]) >= 0 {
			i++
			continue
		}
		end, ok := tagEnd(s, i)
		if !ok {
			return nil, false, &tagError{i, `"*" alone or a tag in double quotes`}
		}
		tags = append(tags, s[i:end])
		i = len(s) - len(strings.TrimLeft(s[end:], blank))
		if i < len(s) && s[i] != ',' {
			return nil, false, &tagError{i, "a comma"}
		}
	}
	if len(tags) == 0 {
		return nil, false, &tagError{0, `"*" or a tag in double quotes`}
	}
	return tags, false, nil
}

// tagEnd returns where the tag that begins at i ends.
func tagEnd(s string, i int) (end int, ok bool) {
	if strings.HasPrefix(s[i:], "W/") {
		i += len("W/")
	}
	if i >= len(s) || s[i] != '"' {
		return 0, false
	}
	for i++; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return i + 1, true
		case c <= ' ' || c == 0x7f:
			return 0, false
		}
	}
	return 0, false
}
