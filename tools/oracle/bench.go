package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"oracle/scheduler"
)

// use is a template with its data ready: only parsing and execution are measured.
type use struct {
	manifest scheduler.Manifest
	render   func(scheduler.Manifest) (string, error)
}

// bench renders the templates of a file of requests, in turn, for so many seconds, each parsed
// anew for every use as the operator does, and prints the manifests per second.
func bench(path, seconds string, output io.Writer) error {
	limit, err := strconv.ParseFloat(seconds, 64)
	if err != nil {
		return err
	}
	uses, err := readUses(path)
	if err != nil {
		return err
	}
	start := time.Now()
	rendered := 0
	for time.Since(start).Seconds() < limit {
		for _, use := range uses {
			if _, err := use.render(use.manifest); err != nil {
				return err
			}
		}
		rendered += len(uses)
	}
	passed := time.Since(start).Seconds()
	_, err = fmt.Fprintf(output, "{\"manifests\": %d, \"seconds\": %.3f, \"per_second\": %.1f}\n",
		rendered, passed, float64(rendered)/passed)
	return err
}

func readUses(path string) ([]use, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var uses []use
	err = eachLine(file, func(line []byte) error {
		var asked request
		if err := json.Unmarshal(line, &asked); err != nil {
			return err
		}
		if asked.Op != "template" {
			return fmt.Errorf("only templates can be measured, not %q", asked.Op)
		}
		manifest, err := manifestOf(asked)
		uses = append(uses, use{manifest, scheduler.Renderer(asked.Data)})
		return err
	})
	if err == nil && len(uses) == 0 {
		err = errors.New(path + ": no requests")
	}
	return uses, err
}
