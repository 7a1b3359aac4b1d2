package main

import (
	"log/slog"
	"net/http"

	"go.opentelemetry.io/otel/trace"

	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/repository/httpapi"
	"github.com/cosmosgrove/grove/tenantitem"
)

// snippet: routes

// api serves the shops of all tenants.
type api struct {
	products *repository.Repository[Product]
	orders   *repository.Repository[Order]
}

func newHandler(products *repository.Repository[Product], orders *repository.Repository[Order], db *registry.Database, logger *slog.Logger, traces trace.TracerProvider) http.Handler {
	a, routes, mux := &api{products, orders}, http.NewServeMux(), http.NewServeMux()
	routes.Handle("POST /products", httpapi.JSON(http.StatusCreated, a.createProduct))
	routes.Handle("GET /products", httpapi.JSON(http.StatusOK, a.listProducts))
	routes.Handle("GET /products/{id}", httpapi.JSON(http.StatusOK, a.getProduct))
	routes.Handle("PUT /products/{id}", httpapi.JSON(http.StatusOK, a.replaceProduct))
	routes.Handle("PATCH /products/{id}", httpapi.JSON(http.StatusOK, a.repriceProduct))
	routes.Handle("DELETE /products/{id}", httpapi.JSON(http.StatusNoContent, a.deleteProduct))
	routes.Handle("POST /products/{id}/restore", httpapi.JSON(http.StatusOK, a.restoreProduct))
	routes.Handle("POST /products/{id}/orders", httpapi.JSON(http.StatusCreated, a.orderProduct))
	mux.Handle("/", httpapi.Middleware(httpapi.Config{Tenant: tenantOf, Budget: 200, RequireIfMatch: true, ChargeHeader: "Request-Charge", Logger: logger, TracerProvider: traces})(routes))
	mux.Handle("GET /ready", httpapi.JSON(http.StatusNoContent, func(_ http.ResponseWriter, r *http.Request) (any, error) { return nil, db.Health(r.Context()) }))
	return mux
}

// end snippet

// snippet: tenant

// tenantOf stands for the verification of a token: the tenant is what the
// token proves, and never what the client says.
func tenantOf(r *http.Request) (string, error) {
	return map[string]string{"Bearer acme-token": "acme", "Bearer globex-token": "globex"}[r.Header.Get("Authorization")], nil
}

// in binds a repository to the tenant of a request.
func in[T any](repo *repository.Repository[T], r *http.Request) *repository.Scope[T] {
	tenant, _ := repository.TenantFrom(r.Context())
	return repo.In(tenant)
}

// end snippet

// snippet: create

func (a *api) createProduct(w http.ResponseWriter, r *http.Request) (any, error) {
	p, err := readProduct(w, r)
	if err != nil {
		return nil, err
	}
	return p, in(a.products, r).Create(r.Context(), p)
}

func (a *api) getProduct(_ http.ResponseWriter, r *http.Request) (any, error) {
	return in(a.products, r).Get(r.Context(), r.PathValue("id"))
}

// end snippet

// snippet: list

func (a *api) listProducts(w http.ResponseWriter, r *http.Request) (any, error) {
	options, err := httpapi.PageOptions(r)
	if err != nil {
		return nil, err
	}
	page, err := in(a.products, r).Page(r.Context(), repository.All().OrderBy("name"), options)
	if err != nil {
		return nil, err
	}
	httpapi.LinkNext(w, r, page.Cursor)
	return page.Items, nil
}

// end snippet

// snippet: replace

func (a *api) replaceProduct(w http.ResponseWriter, r *http.Request) (any, error) {
	p, err := readProduct(w, r)
	if err != nil {
		return nil, err
	}
	p.ID = r.PathValue("id")
	if p.ETag, err = httpapi.IfMatch(r, in(a.products, r), p.ID); err != nil {
		return nil, err
	}
	return p, in(a.products, r).Replace(r.Context(), p)
}

// end snippet

// snippet: change

func (a *api) repriceProduct(w http.ResponseWriter, r *http.Request) (any, error) {
	price := ProductInput{Cents: -1}
	if err := httpapi.ReadJSON(w, r, &price); err != nil {
		return nil, err
	}
	if price.Name != "" || price.Cents < 0 {
		return nil, &httpapi.Problem{Status: http.StatusBadRequest, Detail: "only the price can be changed alone, to one that is not negative"}
	}
	etag, err := httpapi.IfMatch(r, in(a.products, r), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return in(a.products, r).Patch(r.Context(), r.PathValue("id"), repository.Set("/cents", price.Cents).IfMatch(etag))
}

func (a *api) deleteProduct(_ http.ResponseWriter, r *http.Request) (any, error) {
	etag, err := httpapi.IfMatch(r, in(a.products, r), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return nil, in(a.products, r).Delete(r.Context(), r.PathValue("id"), &repository.DeleteOptions{ETag: etag})
}

func (a *api) restoreProduct(w http.ResponseWriter, r *http.Request) (any, error) {
	if err := in(a.products, r).Restore(r.Context(), r.PathValue("id")); err != nil {
		return nil, err
	}
	return a.getProduct(w, r)
}

func (a *api) orderProduct(_ http.ResponseWriter, r *http.Request) (any, error) {
	o := &Order{ProductID: tenantitem.Ref[Product](r.PathValue("id"))}
	return o, in(a.orders, r).Create(r.Context(), o)
}

// end snippet
