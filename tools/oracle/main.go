// Command oracle returns the results of Go's own libraries for templates, YAML, configuration values,
// hashes and schemas. See README.md for its protocol.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
)

const usage = `usage: oracle                               answer the requests on standard input
       oracle bench REQUESTS SECONDS        render a file's templates again and again, parsed each time
       oracle bench-parsed REQUESTS SECONDS the same with each template parsed once`

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	switch {
	case len(arguments) == 0:
		return supervise(os.Stdin, os.Stdout)
	case len(arguments) == 1 && arguments[0] == workerArgument:
		return answerAll(os.Stdin, os.Stdout)
	case len(arguments) == 3 && arguments[0] == "bench":
		return bench(arguments[1], arguments[2], false, os.Stdout)
	case len(arguments) == 3 && arguments[0] == "bench-parsed":
		return bench(arguments[1], arguments[2], true, os.Stdout)
	}
	return errors.New(usage)
}

// eachLine calls handle with every line, including its newline.
func eachLine(input io.Reader, handle func(line []byte) error) error {
	reader := bufio.NewReaderSize(input, 1<<20)
	for {
		line, err := reader.ReadBytes('\n')
		if len(line) > 0 {
			if err := handle(line); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
