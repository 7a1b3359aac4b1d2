package httpapi

import "net/http"

// Handler is an [http.Handler] that returns its error; [WriteError] answers
// with it. Return an error only where nothing was written yet.
type Handler func(w http.ResponseWriter, r *http.Request) error

// ServeHTTP calls the function.
func (h Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := h(w, r); err != nil {
		WriteError(w, r, err)
	}
}
