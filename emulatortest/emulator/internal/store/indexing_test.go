package store_test

import (
	"strconv"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

func TestIndexingPoliciesAreCompleted(t *testing.T) {
	t.Parallel()
	const root, etag = `{"path":"/*"}`, `{"path":"/\"_etag\"/?"}`
	for _, c := range []struct{ policy, included, excluded string }{
		{`{}`, root, etag},
		{`{"includedPaths":[],"excludedPaths":[]}`, root, etag},
		{`{"includedPaths":null,"excludedPaths":null}`, root, etag},
		{`{"includedPaths":[{"path":"/"}]}`, root, etag},
		{`{"excludedPaths":[{"path":"/"}]}`, ``, root + "," + etag},
		{`{"excludedPaths":[{"path":"/*"}],"includedPaths":[{"path":"/a/?"}]}`, `{"path":"/a/?"}`, root + "," + etag},
		{`{"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/a/*"}]}`, root, `{"path":"/a/*"},` + etag},
		{`{"includedPaths":[{"path":"/*"}],"excludedPaths":[` + etag + `,{"path":"/a/*"}]}`, root, etag + `,{"path":"/a/*"}`},
		{`{"includedPaths":[{"path":"/*"},` + etag + `]}`, root + "," + etag, ``},
		{`{"excludedPaths":[{"path":"/a/*"}]}`, root, `{"path":"/a/*"},` + etag},
		{`{"includedPaths":[{"path":"/*"},{"path":"/tags/[]/?"},{"path":"/list/[]/name/?"},{"path":"/\"a-b\"/*"}]}`,
			root + `,{"path":"/tags/[]/?"},{"path":"/list/[]/name/?"},{"path":"/\"a-b\"/*"}`, etag},
		{`{"includedPaths":[{"path":"/*","indexes":[{"kind":"Range","dataType":"Number"}]}]}`,
			`{"path":"/*","indexes":[{"kind":"Range","dataType":"Number"}]}`, etag},
		{`{"includedPaths":[{"path":"/*"},{"path":"/größe/?"},{"path":"/a_1/?"}]}`, root + `,{"path":"/größe/?"},{"path":"/a_1/?"}`, etag},
	} {
		b := setup(t, store.Options{}, "")
		container, err := b.db.CreateContainer([]byte(`{"id":"indexed","partitionKey":{"paths":["/p"]},"indexingPolicy":`+c.policy+`}`), store.Throughput{})
		if err != nil {
			t.Errorf("%s: %v", c.policy, err)
			continue
		}
		policy := parse(t, container.Resource().Body).Get("indexingPolicy")
		if in, out := policy.Get("includedPaths").String(), policy.Get("excludedPaths").String(); in != "["+c.included+"]" || out != "["+c.excluded+"]" {
			t.Errorf("%s became %s and %s", c.policy, in, out)
		}
	}
}

func TestIndexingPathsAreChecked(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		``, `a/?`, `*`, `/?`, `//?`, `/a`, `/a/`, `/a/b`, `/*/a/?`, `/a/*/b/?`, `/a/*/*`, `/a/?/b`, `/a*`, `/a-b/?`, `/a b/?`, `/"a/?`, `/"a"b/?`, `/a"b"/?`,
		`/[0]/?`, `/[]a/?`, `/[`, `/a/**`, `/a/?*`, `/a/??`,
	} {
		for _, policy := range []string{
			`{"includedPaths":[{"path":"/*"},{"path":` + strconv.Quote(path) + `}]}`, `{"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":` + strconv.Quote(path) + `}]}`,
		} {
			b := setup(t, store.Options{}, "")
			_, err := b.db.CreateContainer([]byte(`{"id":"indexed","partitionKey":{"paths":["/p"]},"indexingPolicy":`+policy+`}`), store.Throughput{})
			if err == nil {
				t.Errorf("%s was taken", policy)
				continue
			}
			wantError(t, err, 400, 0)
		}
	}
	for _, policy := range []string{
		`{"includedPaths":[{"path":"/a/?"}]}`, // no root
		`{"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/"}]}`,
		`{"includedPaths":[{"path":"/*"},{"path":"/a/?"}],"excludedPaths":[{"path":"/a/?"}]}`,
		`{"includedPaths":{"path":"/*"}}`, `{"includedPaths":["/*"]}`, `{"excludedPaths":[{}]}`,
	} {
		b := setup(t, store.Options{}, "")
		_, err := b.db.CreateContainer([]byte(`{"id":"indexed","partitionKey":{"paths":["/p"]},"indexingPolicy":`+policy+`}`), store.Throughput{})
		wantError(t, err, 400, 0)
	}
}
