package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cosmosgrove/grove/emulatortest"
)

// It runs alone: the program reads the environment and writes to the standard output.
func TestProgram(t *testing.T) {
	server := emulatortest.Serve(t)
	t.Setenv("COSMOS_CONNECTION_STRING", "")
	t.Setenv("COSMOS_ENDPOINT", server.Endpoint())
	t.Setenv("COSMOS_KEY", server.Key())
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	terminal := os.Stdout
	os.Stdout = file
	main()
	main() // a second run finds the note of the first, and no other
	os.Stdout = terminal
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	printed, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Repeat("acme Note first\ntrue\n", 2); !bytes.Equal(printed, []byte(want)) {
		t.Errorf("it printed %q, want %q", printed, want)
	}
}
