package repository_test

import (
	"slices"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/repository"
)

// The service's newer gateway, and HTTP/2, write the names of headers in lower case: etags, charges, session tokens and
// continuations are read all the same.
func TestHeadersInLowerCase(t *testing.T) {
	t.Parallel()
	server := emulatortest.Serve(t, emulatortest.WithLowerCaseHeaders(), emulatortest.WithPartitions(3))
	client := server.Client(repository.ClientOptions(nil))
	container := newContainer(t, client, "/tenantId", "/entityType")
	acme := newRepository(t, container, repository.Config{}).In("acme")
	ctx, tally := repository.WithTally(t.Context())
	n := &Note{Title: "x"}
	must(t, acme.Create(ctx, n))
	must(t, acme.Batch().Create(&Note{}).Patch(n.ID, repository.Increment("/count", 1)).Commit(ctx))
	_, err := acme.Mutate(ctx, n.ID, func(n *Note) error { n.Count++; return nil })
	must(t, err)
	_, err = acme.SaveAll(ctx, slices.Values(notesFrom(150)), nil)
	must(t, err)
	read := 0
	for cursor, more := "", true; more; more = cursor != "" {
		page, err := acme.Page(ctx, repository.All().OrderByDesc("count"), repository.PageOptions{Size: 20, Cursor: cursor})
		must(t, err)
		read += len(page.Items)
		cursor = page.Cursor
	}
	if read != 152 || n.ETag == "" || tally.RequestUnits() < 1000 {
		t.Errorf("%d documents, etag %q, %s", read, n.ETag, tally)
	}
}
