package restapi

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestResumeFilter goes on with an ORDER BY at a place that the body names, as clients do after a split.
func TestResumeFilter(t *testing.T) {
	t.Parallel()
	b := setup(t)
	rids := map[string]string{}
	for id, n := range map[string]string{"1": `"n":1,`, "4": ``, "5": `"n":"x",`} {
		b.do(t, "POST", docsPath, fmt.Sprintf(`{"id":%q,%s"pk":"a"}`, id, n), keyHeader, `["a"]`)
	}
	for _, id := range []string{"2a", "2b", "2c"} { // a tie, whose rids rise
		a := b.do(t, "POST", docsPath, fmt.Sprintf(`{"id":%q,"n":2,"pk":"a"}`, id), keyHeader, `["a"]`)
		var made struct {
			RID string `json:"_rid"`
		}
		if err := json.Unmarshal(a.Body, &made); err != nil {
			t.Fatal(err)
		}
		rids[id] = made.RID
	}
	for _, c := range []struct{ name, order, filter, want string }{
		{"none", "c.n", `null`, "4 1 2a 2b 2c 5"},
		{"at a value", "c.n", `{"value":[2]}`, "2a 2b 2c 5"},
		{"behind a value", "c.n", `{"value":[2],"exclude":true}`, "5"},
		{"at an item", "c.n", `{"value":[2],"rid":"2b"}`, "2b 2c 5"},
		{"behind an item", "c.n", `{"value":[2],"rid":"2b","exclude":true}`, "2c 5"},
		{"an item of other keys", "c.n", `{"value":[1],"rid":"2b","exclude":true}`, "2a 2b 2c 5"},
		{"between values", "c.n", `{"value":[1.5],"exclude":true}`, "2a 2b 2c 5"},
		{"at what is missing", "c.n", `{"value":[[]],"exclude":true}`, "1 2a 2b 2c 5"},
		{"at null", "c.n", `{"value":[null]}`, "1 2a 2b 2c 5"},
		{"falling, at a value", "c.n DESC", `{"value":[2]}`, "2c 2b 2a 1 4"},
		{"falling, behind an item", "c.n DESC", `{"value":[2],"rid":"2b","exclude":true}`, "2a 1 4"},
		{"falling, behind a value", "c.n DESC", `{"value":["x"],"exclude":true}`, "2c 2b 2a 1 4"},
		{"a list as a value", "c.n", `{"value":[[1]]}`, "400"},
		{"an object as a value", "c.n", `{"value":[{}]}`, "400"},
		{"too many values", "c.n", `{"value":[1,2]}`, "400"},
		{"no values", "c.n", `{"rid":"2b"}`, "400"},
		{"a rid that is no text", "c.n", `{"value":[2],"rid":7}`, "400"},
		{"without an order", "", `{"value":[2]}`, "400"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			query := "SELECT VALUE c.id FROM c"
			if c.order != "" {
				query += " ORDER BY " + c.order
			}
			filter := c.filter
			for id, rid := range rids {
				filter = strings.ReplaceAll(filter, `"`+id+`"`, `"`+rid+`"`)
			}
			body := fmt.Sprintf(`{"query":%q,"resumeFilter":%s}`, query, filter)
			for _, size := range []string{"1", "100"} {
				var got []string
				for continuation := ""; ; {
					headers := []string{"Content-Type", "application/query+json", keyHeader, `["a"]`, "x-ms-max-item-count", size}
					if continuation != "" {
						headers = append(headers, "x-ms-continuation", continuation)
					}
					a := b.do(t, "POST", docsPath, body, headers...)
					if a.Status != 200 {
						got = append(got, fmt.Sprint(a.Status))
						break
					}
					var page struct{ Documents []string }
					if err := json.Unmarshal(a.Body, &page); err != nil {
						t.Fatal(err)
					}
					got = append(got, page.Documents...)
					if continuation = a.Header.Get("x-ms-continuation"); continuation == "" {
						break
					}
				}
				if strings.Join(got, " ") != c.want {
					t.Errorf("pages of %s: got %v, want %s", size, got, c.want)
				}
			}
		})
	}
}
