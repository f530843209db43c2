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

// bench renders the templates of a file of requests, in turn, for so many seconds, and prints the
// manifests per second. It prepares the data before the clock starts. It parses each template anew
// for every use, as the operator does, or, with parseOnce, only once before the clock starts.
func bench(path, seconds string, parseOnce bool, output io.Writer) error {
	limit, err := strconv.ParseFloat(seconds, 64)
	if err != nil {
		return err
	}
	uses, err := readUses(path, parseOnce)
	if err != nil {
		return err
	}
	start := time.Now()
	rendered := 0
	for time.Since(start).Seconds() < limit {
		for _, use := range uses {
			if _, err := use(); err != nil {
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

// readUses returns a function for each request that renders its template with its data.
func readUses(path string, parseOnce bool) ([]func() (string, error), error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var uses []func() (string, error)
	known := map[scheduler.Manifest]scheduler.Parsed{}
	err = eachLine(file, func(line []byte) error {
		var asked request
		if err := json.Unmarshal(line, &asked); err != nil {
			return err
		}
		if asked.Op != "template" {
			return fmt.Errorf("only templates can be measured, not %q", asked.Op)
		}
		manifest, err := manifestOf(asked)
		if err != nil {
			return err
		}
		if !parseOnce {
			render := scheduler.Renderer(asked.Data)
			uses = append(uses, func() (string, error) { return render(manifest) })
			return nil
		}
		parsed, isKnown := known[manifest]
		if !isKnown {
			if parsed, err = scheduler.Parse(manifest); err != nil {
				return err
			}
			known[manifest] = parsed
		}
		render := scheduler.ParsedRenderer(asked.Data)
		uses = append(uses, func() (string, error) { return render(parsed) })
		return nil
	})
	if err == nil && len(uses) == 0 {
		err = errors.New(path + ": no requests")
	}
	return uses, err
}
