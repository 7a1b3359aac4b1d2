package main

import (
	"encoding/json"
	"io"
	"os"
	"regexp"
	"testing"
)

// TestDockerfile holds the image's commands to the flags and commands that there are.
func TestDockerfile(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	var entry, health []string
	for pattern, into := range map[string]*[]string{`(?m)^ENTRYPOINT (.*)$`: &entry, `(?m)^HEALTHCHECK .* CMD (.*)$`: &health} {
		m := regexp.MustCompile(pattern).FindSubmatch(text)
		if len(m) < 2 || json.Unmarshal(m[1], into) != nil {
			t.Fatalf("no %s", pattern)
		}
	}
	c, err := parseArgs(entry[1:], io.Discard)
	if err != nil || len(c.addresses) != 1 || c.addresses[0] != "0.0.0.0:8081" {
		t.Errorf("the entry point %v: %+v, %v", entry, c, err)
	}
	if len(health) != 2 || health[1] != "health" {
		t.Errorf("the health check is %v", health)
	}
}
