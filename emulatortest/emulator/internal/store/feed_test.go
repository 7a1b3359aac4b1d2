package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/store"
)

// feedOf reads the whole latest-version feed of a scope, one item a page, and lists id@lsn.
func feedOf(t testing.TB, c *store.Container, s store.Scope, after int64) []string {
	t.Helper()
	out := []string{}
	for {
		page := must(c.LatestVersions(store.FeedRequest{Scope: s, Start: store.FeedStart{AfterLSN: after}, MaxItems: 1}))(t)
		for _, d := range page.Documents {
			v := parse(t, d)
			id, _ := v.Get("id").Str()
			lsn, _ := v.Get("_lsn").Number()
			out = append(out, fmt.Sprintf("%s@%d", id, int64(lsn)))
		}
		after = must(store.ParseFeedETag(page.ETag))(t)
		if len(page.Documents) == 0 {
			return out
		}
	}
}

func TestLatestVersions(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{}, "")
	must(b.c.CreateItem(at("p"), doc("a", "p", 1)))(t) // LSN 2
	must(b.c.CreateItem(at("q"), doc("b", "q", 1)))(t)
	must(b.c.CreateItem(at("p"), doc("c", "p", 1)))(t)
	must(b.c.UpsertItem(at("p"), doc("a", "p", 2)))(t)
	must(b.c.DeleteItem(at("p"), "c"))(t)
	must(b.c.Batch(at("p"), []store.Operation{{Kind: store.OpCreate, Body: doc("d", "p", 1)}, {Kind: store.OpCreate, Body: doc("e", "p", 1)}}))(t)
	tests := []struct {
		name  string
		scope store.Scope
		after int64
		want  string
	}{
		{"beginning", store.Scope{}, 0, "[b@3 a@5 d@7 e@7]"},
		{"by range", store.Scope{RangeID: "0"}, 0, "[b@3 a@5 d@7 e@7]"},
		{"by key", store.Scope{Key: key("p")}, 0, "[a@5 d@7 e@7]"},
		{"by another key", store.Scope{Key: key("q")}, 0, "[b@3]"},
		{"resumed", store.Scope{}, 5, "[d@7 e@7]"},
		{"at the end", store.Scope{}, 7, "[]"},
		{"behind the end", store.Scope{}, 99, "[]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := fmt.Sprint(feedOf(t, b.c, tt.scope, tt.after)); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	t.Run("a batch is not split over pages", func(t *testing.T) {
		t.Parallel()
		page := must(b.c.LatestVersions(store.FeedRequest{Start: store.FeedStart{AfterLSN: 5}, MaxItems: 1}))(t)
		if len(page.Documents) != 2 || page.ETag != `"7"` {
			t.Errorf("%d documents, etag %s", len(page.Documents), page.ETag)
		}
	})
	t.Run("now", func(t *testing.T) {
		t.Parallel()
		page := must(b.c.LatestVersions(store.FeedRequest{Start: store.FeedStart{Now: true}}))(t)
		if len(page.Documents) != 0 || page.ETag != `"7"` {
			t.Errorf("%d documents, etag %s", len(page.Documents), page.ETag)
		}
	})
	t.Run("page in bytes", func(t *testing.T) {
		t.Parallel()
		page := must(b.c.LatestVersions(store.FeedRequest{MaxBytes: 1}))(t)
		if len(page.Documents) != 1 || page.ETag != `"3"` {
			t.Errorf("%d documents, etag %s", len(page.Documents), page.ETag)
		}
	})
	t.Run("_lsn shows nowhere else", func(t *testing.T) {
		t.Parallel()
		r := must(b.c.ReadItem(at("p"), "a"))(t)
		if strings.Contains(string(r.Body), "_lsn") {
			t.Errorf("%s", r.Body)
		}
	})
}

func TestLatestVersions_sinceATime(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{}, "")
	var second time.Time
	for i := range 3 {
		b.clock.Advance(time.Second)
		if i == 1 {
			second = b.clock.Now()
		}
		must(b.c.CreateItem(at("p"), doc(fmt.Sprint(i), "p", i)))(t)
	}
	page := must(b.c.LatestVersions(store.FeedRequest{Start: store.FeedStart{Since: second}}))(t)
	if len(page.Documents) != 2 {
		t.Errorf("%d documents since the second write", len(page.Documents))
	}
}

func TestLatestVersions_refuses(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{Partitions: 2}, "")
	tests := []struct {
		name              string
		r                 store.FeedRequest
		status, substatus int
	}{
		{"several ranges", store.FeedRequest{}, 400, 0},
		{"unknown range", store.FeedRequest{Scope: store.Scope{RangeID: "9"}}, 410, 1002},
		{"range is no number", store.FeedRequest{Scope: store.Scope{RangeID: "x"}}, 410, 1002},
		{"token ahead", store.FeedRequest{Scope: store.Scope{RangeID: "0"}, SessionToken: "0:-1#99"}, 404, 1002},
		{"bad token", store.FeedRequest{Scope: store.Scope{RangeID: "0"}, SessionToken: "junk"}, 400, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := b.c.LatestVersions(tt.r)
			wantError(t, err, tt.status, tt.substatus)
		})
	}
	for _, etag := range []string{`"x"`, "", `"-1"`, `"9223372036854775807"`, `"99999999999999999999"`, `"`} {
		_, err := store.ParseFeedETag(etag)
		wantError(t, err, 400, 0)
	}
}

const allVersionsContainer = `{"id":"c","partitionKey":{"paths":["/pk"]},"defaultTtl":-1,"changeFeedPolicy":{"retentionDuration":10}}`

func TestAllVersions(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{}, allVersionsContainer)
	start := must(b.c.AllVersions(store.FeedRequest{Start: store.FeedStart{Now: true}}))(t)
	must(b.c.CreateItem(at("p"), doc("a", "p", 1)))(t)
	must(b.c.UpsertItem(at("p"), doc("a", "p", 2)))(t)
	must(b.c.DeleteItem(at("p"), "a"))(t)
	must(b.c.CreateItem(at("p"), []byte(`{"id":"b","pk":"p","ttl":5}`)))(t)
	b.clock.Advance(5 * time.Second)
	after := must(store.ParseFeedETag(start.ETag))(t)
	var got []string
	for {
		page := must(b.c.AllVersions(store.FeedRequest{Start: store.FeedStart{AfterLSN: after}, MaxItems: 2}))(t)
		for _, d := range page.Documents {
			v := parse(t, d)
			kind, _ := v.At("metadata", "operationType").Str()
			id, _ := v.At("current", "id").Str()
			deleted, _ := v.At("metadata", "id").Str()
			was, _ := v.At("previous", "n").Number()
			lsn, _ := v.At("metadata", "lsn").Number()
			previous, _ := v.At("metadata", "previousImageLSN").Number()
			expired, _ := v.At("metadata", "timeToLiveExpired").Bool()
			pk, _ := v.At("metadata", "partitionKey", "pk").Str()
			got = append(got, fmt.Sprintf("%s %s%s%s %v<-%v was=%v expired=%v", kind, id, deleted, pk, lsn, previous, was, expired))
		}
		if after = must(store.ParseFeedETag(page.ETag))(t); len(page.Documents) == 0 {
			break
		}
	}
	want := []string{
		"create a 2<-0 was=0 expired=false", "replace a 3<-2 was=0 expired=false", "delete ap 4<-3 was=2 expired=false",
		"create b 5<-0 was=0 expired=false", "delete bp 6<-5 was=0 expired=true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	b.clock.Advance(11 * time.Minute)
	must(b.c.CreateItem(at("p"), doc("z", "p", 1)))(t)
	page := must(b.c.AllVersions(store.FeedRequest{Start: store.FeedStart{AfterLSN: 1}}))(t)
	if len(page.Documents) != 1 {
		t.Errorf("%d versions are left behind the retention", len(page.Documents))
	}
}

func TestAllVersions_refuses(t *testing.T) {
	t.Parallel()
	b := setup(t, store.Options{}, "")
	_, err := b.c.AllVersions(store.FeedRequest{Start: store.FeedStart{Now: true}})
	wantError(t, err, 400, 0)
	if !strings.Contains(err.Error(), "must be enabled") {
		t.Errorf("message: %v", err)
	}
	b = setup(t, store.Options{}, allVersionsContainer)
	_, err = b.c.AllVersions(store.FeedRequest{})
	wantError(t, err, 400, 0)
	_, err = b.c.AllVersions(store.FeedRequest{Start: store.FeedStart{Since: b.clock.Now()}})
	wantError(t, err, 400, 0)
}
