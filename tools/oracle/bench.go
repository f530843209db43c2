package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"
)

// bench renders the templates of a file of requests, in turn, for so many seconds, each parsed
// anew for every use as the operator does, and prints how many manifests a second that makes.
func bench(path, seconds string, output io.Writer) error {
	limit, err := strconv.ParseFloat(seconds, 64)
	if err != nil {
		return err
	}
	requests, err := readTemplates(path)
	if err != nil {
		return err
	}
	start := time.Now()
	rendered := 0
	for time.Since(start).Seconds() < limit {
		for _, asked := range requests {
			if _, err := render(asked); err != nil {
				return err
			}
			rendered++
		}
	}
	_, err = fmt.Fprintf(output, "{\"manifests\": %d, \"seconds\": %.3f, \"per_second\": %.1f}\n",
		rendered, time.Since(start).Seconds(), float64(rendered)/time.Since(start).Seconds())
	return err
}

func readTemplates(path string) ([]request, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var requests []request
	err = eachLine(file, func(line []byte) error {
		var asked request
		if err := json.Unmarshal(line, &asked); err != nil {
			return err
		}
		if asked.Op != "template" {
			return fmt.Errorf("only templates can be measured, not %q", asked.Op)
		}
		requests = append(requests, asked)
		return nil
	})
	if err == nil && len(requests) == 0 {
		err = fmt.Errorf("%s: no requests", path)
	}
	return requests, err
}
