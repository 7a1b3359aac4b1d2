package registry_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
)

func keyNumber(n int) string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "key number %d", n))
}

// underLoad has workers create, read, query and change notes until stop is called, which
// returns how many rounds there were and the first errors.
func underLoad(ctx context.Context, notes *repository.Repository[Note]) (rounds *atomic.Int64, stop func() []error) {
	ctx, cancel := context.WithCancel(ctx)
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		errs []error
	)
	rounds = &atomic.Int64{}
	for worker := range 4 {
		wg.Go(func() {
			scope := notes.In(fmt.Sprint("tenant", worker))
			for ctx.Err() == nil {
				ctx := context.WithoutCancel(ctx)
				note := &Note{Title: "one"}
				err := scope.Create(ctx, note)
				if err == nil {
					_, err = scope.Mutate(ctx, note.ID, func(n *Note) error { n.Title = "two"; return nil })
				}
				if err == nil {
					_, err = scope.Count(ctx, repository.Where(repository.Eq("title", "two")))
				}
				if err == nil {
					err = scope.Delete(ctx, note.ID, nil)
				}
				if err != nil {
					mu.Lock()
					errs = append(errs, err)
					mu.Unlock()
				}
				rounds.Add(1)
				time.Sleep(time.Minute) // of the bubble's clock
			}
		})
	}
	return rounds, func() []error {
		cancel()
		wg.Wait()
		return errs
	}
}

// Both keys of the account are regenerated, one after the other and again and
// again, while four workers go on: none of them sees an error.
func TestAKeyIsRotatedUnderLoad(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		account := emulatortest.New(t)
		service := account.Service()
		keys := []string{keyNumber(0), keyNumber(1)}
		must(t, service.SetKeys(keys...))
		key, err := registry.NewAccountKey(keys[0])
		must(t, err)
		client, err := registry.NewClient(t.Context(), registry.ClientConfig{Endpoint: account.Endpoint(), AccountKey: key, Options: through(account)})
		must(t, err)
		defer client.Close()
		e := newEstate(t, client)
		rounds, stop := underLoad(t.Context(), e.notes)
		for n := 2; n < 12; n++ {
			inUse, other := n%2, (n+1)%2
			time.Sleep(7 * time.Minute) // the SDK reads the account every five minutes
			keys[other] = keyNumber(n)  // regenerate the one that is not in use
			must(t, service.SetKeys(keys...))
			time.Sleep(time.Minute)
			must(t, key.Replace(keys[other]))
			keys[inUse] = keyNumber(100 + n) // and at once the other
			must(t, service.SetKeys(keys...))
		}
		if errs := stop(); len(errs) != 0 {
			t.Errorf("%d errors, the first: %v", len(errs), errs[0])
		}
		t.Logf("20 keys regenerated in %d rounds of work", rounds.Load())
		if rounds.Load() < 100 {
			t.Errorf("only %d rounds", rounds.Load())
		}
	})
}

// A request that is on its way when the key it was signed with is taken away
// is signed and sent again, a write too.
func TestARequestThatWasSignedWithTheFormerKey(t *testing.T) {
	t.Parallel()
	account := emulatortest.New(t)
	must(t, account.Service().SetKeys(account.Key(), keyNumber(1)))
	key, err := registry.NewAccountKey(account.Key())
	must(t, err)
	var late atomic.Bool
	options := through(account)
	next := options.Transport
	options.Transport = transportFunc(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodPost && late.CompareAndSwap(true, false) {
			if err := errors.Join(key.Replace(keyNumber(1)), account.Service().SetKeys(keyNumber(1))); err != nil {
				return nil, err
			}
		}
		return next.Do(r)
	})
	client, err := registry.NewClient(t.Context(), registry.ClientConfig{Endpoint: account.Endpoint(), AccountKey: key, Options: options})
	must(t, err)
	defer client.Close()
	e := newEstate(t, client)
	late.Store(true)
	note := &Note{Title: "late"}
	must(t, e.notes.In("acme").Create(t.Context(), note))
	if late.Load() {
		t.Fatal("the key was not replaced meanwhile")
	}
	if n, err := e.notes.In("acme").Count(t.Context(), repository.All()); err != nil || n != 1 {
		t.Errorf("%d notes, %v", n, err)
	}
	// A key that the account does not have shows as what it is.
	must(t, key.Replace(keyNumber(7)))
	err = e.notes.In("acme").Create(t.Context(), &Note{})
	var response *azcore.ResponseError
	if !errors.As(err, &response) || response.StatusCode != http.StatusUnauthorized {
		t.Errorf("with a wrong key: %v", err)
	}
	must(t, key.Replace(keyNumber(1)))
	must(t, e.notes.In("acme").Create(t.Context(), &Note{}))
}

type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) Do(r *http.Request) (*http.Response, error) { return f(r) }

func TestAnAccountKeyKeepsItsSecret(t *testing.T) {
	t.Parallel()
	secret := keyNumber(3)
	key, err := registry.NewAccountKey(secret)
	must(t, err)
	cfg := registry.ClientConfig{Endpoint: "https://a.example/", AccountKey: key}
	text, err := json.Marshal(map[string]any{"key": key, "cfg": cfg})
	must(t, err)
	for _, printed := range []string{fmt.Sprintf("%v %+v %#v %s", key, key, key, key), fmt.Sprintf("%v %+v %#v", cfg, cfg, cfg), string(text), key.LogValue().String()} {
		if strings.Contains(printed, secret) || strings.Contains(printed, "number") {
			t.Errorf("printed: %s", printed)
		}
	}
	for name, cfg := range map[string]registry.ClientConfig{
		"with a key":   {Endpoint: "https://a.example/", Key: secret, AccountKey: key},
		"no endpoint":  {AccountKey: key},
		"an empty one": {Endpoint: "https://a.example/", AccountKey: &registry.AccountKey{}},
	} {
		if _, err := registry.NewClient(t.Context(), cfg); !errors.Is(err, repository.ErrInvalid) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := registry.NewAccountKey(secret + "!"); !errors.Is(err, repository.ErrInvalid) || strings.Contains(err.Error(), secret) {
		t.Errorf("no base64: %v", err)
	}
}

// shortTokens gives tokens that are good for so long, and counts them.
type shortTokens struct {
	account  *emulatortest.Emulator
	lifetime time.Duration
	given    atomic.Int64
}

func (s *shortTokens) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	s.given.Add(1)
	now := time.Now()
	encode := base64.RawURLEncoding.EncodeToString
	claims := fmt.Sprintf(`{"oid":"an identity","exp":%d}`, now.Add(s.lifetime).Unix())
	token := encode([]byte(`{"alg":"none"}`)) + "." + encode([]byte(claims)) + "." + encode([]byte(s.account.Key()))
	return azcore.AccessToken{Token: token, ExpiresOn: now.Add(s.lifetime)}, nil
}

// An identity's tokens expire every twenty minutes while four workers go on.
func TestEntraTokensAreRenewedUnderLoad(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		account := emulatortest.New(t)
		newEstate(t, account.Client(nil))
		tokens := &shortTokens{account: account, lifetime: 20 * time.Minute}
		client, err := registry.NewClient(t.Context(), registry.ClientConfig{Endpoint: account.Endpoint(), Credential: tokens, Options: through(account)})
		must(t, err)
		defer client.Close()
		e, err := openEstate(t.Context(), client, false)
		must(t, err)
		rounds, stop := underLoad(t.Context(), e.notes)
		time.Sleep(2 * time.Hour)
		if errs := stop(); len(errs) != 0 {
			t.Errorf("%d errors, the first: %v", len(errs), errs[0])
		}
		t.Logf("%d tokens in %d rounds of work", tokens.given.Load(), rounds.Load())
		if tokens.given.Load() < 6 {
			t.Errorf("%d tokens were asked for in two hours", tokens.given.Load())
		}
	})
}
