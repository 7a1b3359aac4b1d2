package cosmos_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/internal/cosmos"
)

// recorder keeps the body of a batch and answers it.
type recorder struct {
	sent, answer []byte
}

func (r *recorder) Do(req *http.Request) (*http.Response, error) {
	body := []byte(`{"id":"here"}`)
	if req.Method == http.MethodPost {
		r.sent, _ = io.ReadAll(req.Body)
		body = r.answer
	}
	return &http.Response{
		StatusCode: http.StatusOK, Request: req, Header: http.Header{}, ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body)),
	}, nil
}

func containerOver(t *testing.T, transport policy.Transporter) *azcosmos.ContainerClient {
	t.Helper()
	credential, err := azcosmos.NewKeyCredential(base64.StdEncoding.EncodeToString([]byte("no secret")))
	if err != nil {
		t.Fatal(err)
	}
	options := cosmos.ClientOptions(nil)
	options.Transport = transport
	client, err := azcosmos.NewClientWithKey("https://stub.example/", credential, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	container, err := client.NewContainer("db", "c")
	if err != nil {
		t.Fatal(err)
	}
	return container
}

// What is sent in place of the SDK's batch says what the SDK's would have said,
// and the same is read out of the answer.
func TestBatchIsThatOfTheSDK(t *testing.T) {
	t.Parallel()
	answer := []byte(`[{"statusCode":201,"eTag":"\"1\"","requestCharge":7.62},
		{"requestCharge":1,"statusCode":200,"eTag":"\"2\"","resourceBody":{"id":"a","n":[1,{}]},"unknown":{"x":null}},
		{"statusCode":424,"requestCharge":0}]`)
	wire := &recorder{answer: answer}
	container := containerOver(t, wire)
	key := azcosmos.NewPartitionKeyString("k")
	etag := azcore.ETag(`"0000-1"`)
	match := &azcosmos.TransactionalBatchItemOptions{IfMatchETag: &etag}
	var patch azcosmos.PatchOperations
	patch.AppendSet("/name", "<a & b>\u2028")
	patch.AppendIncrement("/n", 2)
	var changes cosmos.Patch
	changes.Set("/name", "<a & b>\u2028")
	changes.Increment("/n", 2)
	document := []byte(`{"id":"a","text":"<b>&\u2028 \"quoted\"","n":1.50}`)

	theirs := container.NewTransactionalBatch(key)
	theirs.CreateItem(document, nil)
	theirs.UpsertItem(document, nil)
	theirs.ReplaceItem("a b", document, match)
	theirs.ReplaceItem("ü", document, nil)
	theirs.PatchItem("a", patch, match)
	theirs.DeleteItem("a", match)
	theirs.ReadItem("a", nil)
	expected, err := container.ExecuteTransactionalBatch(t.Context(), theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := wire.sent

	ours := cosmos.NewBatch(0)
	for _, op := range []cosmos.Operation{
		{Kind: cosmos.OpCreate, ID: "a", Body: document}, {Kind: cosmos.OpUpsert, ID: "a", Body: document},
		{Kind: cosmos.OpReplace, ID: "a b", ETag: string(etag), Body: document}, {Kind: cosmos.OpReplace, ID: "ü", Body: document},
		{Kind: cosmos.OpPatch, ID: "a", ETag: string(etag), Patch: changes}, {Kind: cosmos.OpDelete, ID: "a", ETag: string(etag)}, {Kind: cosmos.OpRead, ID: "a"},
	} {
		if err := ours.Add(op); err != nil {
			t.Fatal(err)
		}
	}
	results, applied, _, err := execute(t, ours, container, key)
	if err != nil || !applied || len(results) != len(expected.OperationResults) {
		t.Fatalf("%d results, applied %v, %v", len(results), applied, err)
	}
	if have, want := decoded(t, wire.sent), decoded(t, want); !reflect.DeepEqual(have, want) {
		t.Errorf("sent\n%s\nthe SDK sends\n%s", wire.sent, want)
	}
	for i, r := range results {
		e := expected.OperationResults[i]
		if r.Status != int(e.StatusCode) || r.ETag != string(e.ETag) || !bytes.Equal(r.Body, e.ResourceBody) {
			t.Errorf("result %d is %+v, the SDK's %+v", i, r, e)
		}
	}
}

func decoded(t *testing.T, text []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func execute(t *testing.T, batch *cosmos.Batch, c *cosmos.Container, key cosmos.PartitionKey) ([]cosmos.Result, bool, cosmos.Answer, error) {
	t.Helper()
	x := cosmos.Exchange{Write: true}
	return batch.Execute(cosmos.NewAttempts().Context(t.Context(), &x, true), c, key, cosmos.Options{})
}

// One document in a batch's answer may hold text that no string of Go can.
func TestABatchKeepsOddDocuments(t *testing.T) {
	t.Parallel()
	wire := &recorder{}
	container, key := containerOver(t, wire), cosmos.StringKey("k")
	for text, want := range map[string][]cosmos.Result{
		``:                nil,
		`[]`:              {},
		`[{}]`:            {{}},
		`[{"eTag":null}]`: {{}},
		`[{"StatusCode":201,"etag":"x"},{"statuscode":200,"ETag":"y","RESOURCEBODY":{"A":1}}]`: {{Status: 201, ETag: "x"}, {Status: 200, ETag: "y", Body: []byte(`{"A":1}`)}},
		`[{"statusCode":200,"resourceBody":{"a":"\ud800"}}]`:                                   {{Status: 200, Body: []byte(`{"a":"\ud800"}`)}},
		`[{"statusCode":200,"resourceBody":{"a":1,"a":2}},{"eTag":"x"}]`:                       {{Status: 200, Body: []byte(`{"a":1,"a":2}`)}, {ETag: "x"}},
	} {
		wire.answer = []byte(text)
		have, applied, _, err := execute(t, cosmos.NewBatch(0), container, key)
		if err != nil || !applied || !reflect.DeepEqual(have, want) {
			t.Errorf("%s: %+v, applied %v, %v; want %+v", text, have, applied, err, want)
		}
	}
	for _, text := range []string{`{`, `[{]`, `[1]`, `[{"statusCode":"x"}]`, `x`} {
		wire.answer = []byte(text)
		if have, applied, _, err := execute(t, cosmos.NewBatch(0), container, key); err != nil || applied || have != nil {
			t.Errorf("%s: %+v, applied %v, %v", text, have, applied, err)
		}
	}
}

// Nothing is sent for a patch that can't be written, and nothing without an exchange.
func TestABatchThatCannotBeSent(t *testing.T) {
	t.Parallel()
	var patch cosmos.Patch
	patch.Set("/f", func() {})
	if err := cosmos.NewBatch(0).Add(cosmos.Operation{Kind: cosmos.OpPatch, ID: "a", Patch: patch}); err == nil {
		t.Error("a function was encoded")
	}
	wire := &recorder{}
	if _, _, _, err := cosmos.NewBatch(0).Execute(t.Context(), containerOver(t, wire), cosmos.StringKey("k"), cosmos.Options{}); err == nil || wire.sent != nil {
		t.Errorf("sent %s, %v", wire.sent, err)
	}
}
