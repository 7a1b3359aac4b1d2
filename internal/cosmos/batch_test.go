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
	patchBody, err := patch.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
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

	body := cosmos.AppendBatch(nil, []cosmos.BatchOperation{
		{Verb: "Create", Body: document}, {Verb: "Upsert", Body: document},
		{Verb: "Replace", ID: "a b", ETag: string(etag), Body: document}, {Verb: "Replace", ID: "ü", Body: document},
		{Verb: "Patch", ID: "a", ETag: string(etag), Body: patchBody}, {Verb: "Delete", ID: "a", ETag: string(etag)}, {Verb: "Read", ID: "a"},
	})
	x := cosmos.Exchange{Write: true, Send: body, KeepBody: true}
	ctx := cosmos.NewAttempts().Context(t.Context(), &x, true)
	if _, err := container.ExecuteTransactionalBatch(ctx, cosmos.UnsentBatch(container, key), nil); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(wire.sent, body) {
		t.Errorf("sent %s, want %s", wire.sent, body)
	}
	if have, want := decoded(t, wire.sent), decoded(t, want); !reflect.DeepEqual(have, want) {
		t.Errorf("sent\n%s\nthe SDK sends\n%s", wire.sent, want)
	}
	if !x.Kept || !bytes.Equal(x.Body, answer) {
		t.Errorf("kept %v, %s", x.Kept, x.Body)
	}
	results, err := cosmos.ReadBatch(x.Body)
	if err != nil || len(results) != len(expected.OperationResults) {
		t.Fatalf("%d results, %v", len(results), err)
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

// One document in a batch's answer may hold text that no string of Go can.
func TestReadBatchKeepsOddDocuments(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]cosmos.BatchResult{
		``:                nil,
		`[]`:              {},
		`[{}]`:            {{}},
		`[{"eTag":null}]`: {{}},
		`[{"statusCode":200,"resourceBody":{"a":"\ud800"}}]`:             {{Status: 200, Body: []byte(`{"a":"\ud800"}`)}},
		`[{"statusCode":200,"resourceBody":{"a":1,"a":2}},{"eTag":"x"}]`: {{Status: 200, Body: []byte(`{"a":1,"a":2}`)}, {ETag: "x"}},
	} {
		have, err := cosmos.ReadBatch([]byte(text))
		if err != nil || !reflect.DeepEqual(have, want) {
			t.Errorf("%s: %+v, %v; want %+v", text, have, err, want)
		}
	}
	for _, text := range []string{`{`, `[{]`, `[1]`, `[{"statusCode":"x"}]`, `x`} {
		if have, err := cosmos.ReadBatch([]byte(text)); err == nil {
			t.Errorf("%s: %+v", text, have)
		}
	}
}
