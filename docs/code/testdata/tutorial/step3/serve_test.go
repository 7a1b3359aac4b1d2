package main

import (
	"net"
	"net/http"
	"testing"
)

func TestServe(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") // a free address
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	start(t, serve(address))
	answer, err := http.Get("http://" + address + "/products")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusUnauthorized {
		t.Error(answer.Status)
	}
}
