package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
)

// initFile is what -init reads: databases with their containers. A container is written as the REST API takes it, with its
// indexing policy, unique keys and so on; throughput is in request units a second.
type initFile struct {
	Databases []struct {
		ID         string           `json:"id"`
		Throughput int              `json:"throughput"`
		Containers []map[string]any `json:"containers"`
	} `json:"databases"`
}

// initialize makes what an init file names and is not there yet.
func (a *account) initialize(ctx context.Context, path string) (n counts, err error) {
	text, err := os.ReadFile(path) //nolint:gosec // the file that the user named
	if err != nil {
		return n, fmt.Errorf("read the init file: %w", err)
	}
	var file initFile
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	if err := in.Decode(&file); err != nil {
		return n, fmt.Errorf("read the init file %s: %w", path, err)
	}
	for _, d := range file.Databases {
		if err := a.create(ctx, "dbs", map[string]any{"id": d.ID}, throughput(d.Throughput)...); err != nil {
			return n, fmt.Errorf("the init file %s: %w", path, err)
		}
		n.databases++
		for _, c := range d.Containers {
			units, _ := c["throughput"].(float64)
			if units < 0 {
				return n, errors.New("the init file has a throughput below zero")
			}
			delete(c, "throughput")
			if err := a.create(ctx, "dbs/"+d.ID+"/colls", c, throughput(int(units))...); err != nil {
				return n, fmt.Errorf("the init file %s: %w", path, err)
			}
			n.containers++
		}
	}
	return n, nil
}

func throughput(units int) []string {
	if units == 0 {
		return nil
	}
	return []string{"x-ms-offer-throughput", strconv.Itoa(units)}
}
