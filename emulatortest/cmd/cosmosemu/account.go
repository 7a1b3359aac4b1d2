package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// account speaks the REST protocol to one endpoint, in this process or anywhere. The SDK would do for items, but it drops
// the properties of a container that it does not know, and it has no scripts.
type account struct {
	endpoint string // ends with a slash
	secret   []byte
	send     func(*http.Request) (*http.Response, error)
}

func newAccount(endpoint, key string, send func(*http.Request) (*http.Response, error)) (*account, error) {
	secret, err := base64.StdEncoding.DecodeString(key)
	if err != nil || len(secret) == 0 {
		return nil, errors.New("the account key is not base64")
	}
	if u, err := url.Parse(endpoint); err != nil || u.Host == "" {
		return nil, fmt.Errorf("the endpoint %q is no URL such as http://localhost:8081/", endpoint)
	}
	return &account{endpoint: strings.TrimSuffix(endpoint, "/") + "/", secret: secret, send: send}, nil
}

// refusal is an answer of 400 or above.
type refusal struct {
	status  int
	message string
}

func (r *refusal) Error() string { return fmt.Sprintf("%d: %s", r.status, r.message) }

// isStatus reports whether an error is an answer with that status.
func isStatus(err error, status int) bool {
	var r *refusal
	return errors.As(err, &r) && r.status == status
}

// answer is one page of a feed, or one resource.
type answer struct {
	body         []byte
	continuation string
}

// do sends one request to a link such as dbs/x/colls; headers are pairs of name and text.
func (a *account) do(ctx context.Context, method, link string, body []byte, headers ...string) (answer, error) {
	segments := strings.Split(link, "/")
	for i := range segments {
		segments[i] = url.PathEscape(segments[i])
	}
	request, err := http.NewRequestWithContext(ctx, method, a.endpoint+strings.Join(segments, "/"), bytes.NewReader(body)) //nolint:gosec // the endpoint is what the caller named
	if err != nil {
		return answer{}, fmt.Errorf("make a request: %w", err)
	}
	a.sign(request, method, link)
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := a.send(request)
	if err != nil {
		return answer{}, err
	}
	text, err := io.ReadAll(response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return answer{}, fmt.Errorf("read the answer to %s %s: %w", method, link, err)
	}
	if response.StatusCode >= http.StatusBadRequest {
		var e struct{ Message string }
		_ = json.Unmarshal(text, &e) // an answer in another form has a status all the same
		first, _, _ := strings.Cut(e.Message, "\r\n")
		return answer{}, fmt.Errorf("%s %s: %w", method, link, &refusal{response.StatusCode, first})
	}
	return answer{text, response.Header.Get("x-ms-continuation")}, nil
}

// sign writes the headers of authorization: a feed signs its parent.
func (a *account) sign(request *http.Request, method, link string) {
	segments := strings.Split(link, "/")
	kind, signed := segments[len(segments)-1], strings.Join(segments[:len(segments)-1], "/")
	if len(segments)%2 == 0 {
		kind, signed = segments[len(segments)-2], link
	}
	date := time.Now().UTC().Format(http.TimeFormat)
	mac := hmac.New(sha256.New, a.secret)
	mac.Write([]byte(strings.ToLower(method) + "\n" + kind + "\n" + signed + "\n" + strings.ToLower(date) + "\n\n"))
	request.Header.Set("x-ms-date", date)
	request.Header.Set("x-ms-version", "2020-11-05")
	request.Header.Set("Authorization", url.QueryEscape("type=master&ver=1.0&sig="+base64.StdEncoding.EncodeToString(mac.Sum(nil))))
}

// each calls yield with every entry of a feed.
func (a *account) each(ctx context.Context, link, entries string, yield func(json.RawMessage) error) error {
	continuation := ""
	for {
		headers := []string{"x-ms-max-item-count", "1000"}
		if continuation != "" {
			headers = append(headers, "x-ms-continuation", continuation)
		}
		page, err := a.do(ctx, http.MethodGet, link, nil, headers...)
		if err != nil {
			return err
		}
		var feed map[string]json.RawMessage
		var list []json.RawMessage
		if err := errors.Join(json.Unmarshal(page.body, &feed), json.Unmarshal(feed[entries], &list)); err != nil {
			return fmt.Errorf("read the feed of %s: %w", link, err)
		}
		for _, entry := range list {
			if err := yield(entry); err != nil {
				return err
			}
		}
		if continuation = page.continuation; continuation == "" {
			return nil
		}
	}
}
