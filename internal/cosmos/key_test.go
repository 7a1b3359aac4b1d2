package cosmos_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/internal/cosmos"
)

// otherKey is a key that no account has to begin with.
const otherKey = "b3RoZXIga2V5"

// signatures compares what the key's policy writes with what the SDK wrote.
type signatures struct {
	t        *testing.T
	sdk      string
	compared atomic.Int64
}

type beforeSigning struct{ *signatures }
type afterSigning struct{ *signatures }

func (b beforeSigning) Do(req *policy.Request) (*http.Response, error) {
	b.sdk = req.Raw().Header.Get("Authorization")
	req.Raw().Header.Set("Authorization", "none")
	return req.Next()
}

func (a afterSigning) Do(req *policy.Request) (*http.Response, error) {
	if got := req.Raw().Header.Get("Authorization"); got != a.sdk {
		a.t.Errorf("%s %s is signed otherwise than by the SDK", req.Raw().Method, req.Raw().URL.EscapedPath())
	}
	a.compared.Add(1)
	return req.Next()
}

// After a replacement the policy signs every kind of request as the SDK would.
func TestAKeySignsAsTheSDKDoes(t *testing.T) {
	t.Parallel()
	account := emulatortest.New(t, emulatortest.Calm()) // its client is the SDK's, which leaves 449 to it
	var key cosmos.Key
	if err := key.Replace(otherKey); err != nil {
		t.Fatal(err)
	}
	signing := key.Policy()
	if err := key.Replace(account.Key()); err != nil {
		t.Fatal(err)
	}
	seen := &signatures{t: t}
	client := account.Client(&azcosmos.ClientOptions{ClientOptions: azcore.ClientOptions{
		PerRetryPolicies: []policy.Policy{beforeSigning{seen}, signing, afterSigning{seen}},
	}})
	ctx := t.Context()
	check := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	manual := azcosmos.NewManualThroughputProperties(400)
	check(client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: "a database"}, &azcosmos.CreateDatabaseOptions{ThroughputProperties: &manual}))
	db, err := client.NewDatabase("a database")
	check(db, err)
	check(db.Read(ctx, nil))
	check(db.ReadThroughput(ctx, nil))
	more := azcosmos.NewManualThroughputProperties(500)
	check(db.ReplaceThroughput(ctx, more, nil))
	check(db.CreateContainer(ctx, azcosmos.ContainerProperties{ID: "Mixed-Ünïcode+%41", PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/pk"}}}, nil))
	container, err := db.NewContainer("Mixed-Ünïcode+%41")
	check(container, err)
	check(container.Read(ctx, nil))
	pk := azcosmos.NewPartitionKeyString("p")
	for _, id := range []string{"plain", "With Space", "ünï", "a+b&c=d", "%41"} {
		check(container.CreateItem(ctx, pk, []byte(`{"id":"`+id+`","pk":"p"}`), nil))
		check(container.ReadItem(ctx, pk, id, nil))
		check(container.UpsertItem(ctx, pk, []byte(`{"id":"`+id+`","pk":"p","n":1}`), nil))
		patch := azcosmos.PatchOperations{}
		patch.AppendSet("/n", 2)
		check(container.PatchItem(ctx, pk, id, patch, nil))
		check(container.DeleteItem(ctx, pk, id, nil))
	}
	check(container.NewQueryItemsPager("SELECT * FROM c", pk, nil).NextPage(ctx))
	check(container.NewQueryItemsPager("SELECT * FROM c", azcosmos.NewPartitionKey(), nil).NextPage(ctx))
	batch := container.NewTransactionalBatch(pk)
	batch.CreateItem([]byte(`{"id":"x","pk":"p"}`), nil)
	check(container.ExecuteTransactionalBatch(ctx, batch, nil))
	ranges, err := container.ReadFeedRanges(ctx, nil)
	check(ranges, err)
	check(container.ReadChangeFeed(ctx, &azcosmos.ChangeFeedOptions{FeedRange: &ranges[0]}))
	check(client.NewQueryDatabasesPager("SELECT * FROM d", nil).NextPage(ctx))
	check(db.NewQueryContainersPager("SELECT * FROM d", nil).NextPage(ctx))
	check(container.Delete(ctx, nil))
	check(db.Delete(ctx, nil))
	if n := seen.compared.Load(); n < 40 {
		t.Errorf("%d requests compared", n)
	}
}

func TestAKeyThatIsNone(t *testing.T) {
	t.Parallel()
	var key cosmos.Key
	for _, text := range []string{"", "not base64!"} {
		if err := key.Replace(text); err == nil || text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if key.Text() != "" {
		t.Error("it holds something")
	}
}
