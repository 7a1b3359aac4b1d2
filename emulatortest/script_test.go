package emulatortest_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/emulatortest/emulator"
)

// post sends a request that azcosmos has no method for, signed as the REST API asks.
func post(t *testing.T, e *emulatortest.Emulator, kind, link, path, body string, header ...string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, strings.TrimSuffix(e.Endpoint(), "/")+"/"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	date := time.Now().UTC().Format(http.TimeFormat)
	secret, err := base64.StdEncoding.DecodeString(e.Key())
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(strings.ToLower("POST\n"+kind+"\n") + link + "\n" + strings.ToLower(date) + "\n\n"))
	request.Header.Set("x-ms-date", date)
	request.Header.Set("Authorization", url.QueryEscape("type=master&ver=1.0&sig="+base64.StdEncoding.EncodeToString(mac.Sum(nil))))
	request.Header.Set("x-ms-version", "2020-11-05")
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := e.Transport().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// TestScriptsThroughTheSDK uses what azcosmos has: triggers by name, and queries that call functions.
func TestScriptsThroughTheSDK(t *testing.T) {
	t.Parallel()
	e := emulatortest.New(t, withoutRetries(), emulatortest.WithScriptLimits(emulator.ScriptLimits{Charge: 20}))
	c := newContainer(t, e.Client(nil), "/tenant")
	read, err := c.Read(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	link := "dbs/" + strings.Split(read.RawResponse.Header.Get("x-ms-alt-content-path"), "/")[1] + "/colls/" + read.ContainerProperties.ID
	register := func(feed string, resource map[string]string) {
		t.Helper()
		text, err := json.Marshal(resource)
		if err != nil {
			t.Fatal(err)
		}
		if status, answer := post(t, e, feed, link, link+"/"+feed, string(text)); status != http.StatusCreated {
			t.Fatalf("%s: %d %s", feed, status, answer)
		}
	}
	register("triggers", map[string]string{
		"id": "stamp", "triggerType": "Pre", "triggerOperation": "Create",
		"body": `function () { var r = getContext().getRequest(), item = r.getBody(); item.stamped = true; r.setBody(item); }`,
	})
	register("udfs", map[string]string{"id": "tax", "body": `function tax(income) { return income < 1000 ? income * 0.1 : income * 0.4; }`})
	register("sprocs", map[string]string{"id": "fill", "body": `function (n) {
		var made = 0;
		more();
		function more() {
			__.response.setBody(made);
			if (made === n) return;
			__.createDocument(__.getSelfLink(), { tenant: "t", n: made }, function (err) { if (err) throw err; made++; more(); });
		}
	}`})

	answer, err := c.CreateItem(t.Context(), pk("t"), []byte(`{"id":"1","tenant":"t","n":500}`),
		&azcosmos.ItemOptions{PreTriggers: []string{"stamp"}, EnableContentResponseOnWrite: true})
	if err != nil || !strings.Contains(string(answer.Value), `"stamped":true`) {
		t.Errorf("create with a trigger: %v %s", err, answer.Value)
	}
	if _, err := c.ReadItem(t.Context(), pk("t"), "1", &azcosmos.ItemOptions{PreTriggers: []string{"stamp"}}); err == nil {
		t.Error("a read ran with a trigger")
	}
	pager := c.NewQueryItemsPager("SELECT VALUE udf.tax(c.n) FROM c", pk("t"), nil)
	page, err := pager.NextPage(t.Context())
	if err != nil || len(page.Items) != 1 || string(page.Items[0]) != "50" {
		t.Errorf("query with a function: %v %s", err, page.Items)
	}
	status, made := post(t, e, "sprocs", link+"/sprocs/fill", link+"/sprocs/fill", "[100]", "x-ms-documentdb-partitionkey", `["t"]`)
	if status != http.StatusOK || made == "100" || made == "0" {
		t.Errorf("a procedure with 20 request units made %s of 100 items (%d)", made, status)
	}
}
