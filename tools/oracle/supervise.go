package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

const (
	workerArgument = "worker"
	// timeLimit bounds one request: a template may loop for ever, and no goroutine can be stopped.
	timeLimit = 10 * time.Second
)

// supervise hands every request to a worker process. If the worker hangs or dies (Go cannot recover
// from a stack overflow), the answer is an error, and the next request gets a new worker.
func supervise(input io.Reader, output io.Writer) error {
	writer := bufio.NewWriter(output)
	defer writer.Flush()
	worker, err := startWorker()
	if err != nil {
		return err
	}
	defer func() { worker.stop() }()
	return eachLine(input, func(line []byte) error {
		answer, alive := worker.ask(line)
		if !alive {
			worker.stop()
			if worker, err = startWorker(); err != nil {
				return err
			}
		}
		if _, err := writer.Write(answer); err != nil {
			return err
		}
		return writer.Flush()
	})
}

type worker struct {
	process *exec.Cmd
	input   io.WriteCloser
	answers chan []byte // closed when the process ends
	errors  *bytes.Buffer
}

func startWorker() (*worker, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	process := exec.Command(self, workerArgument)
	process.Env = append(os.Environ(), "TZ=UTC") // as in the operator's container
	input, err := process.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	started := &worker{process, input, make(chan []byte), &bytes.Buffer{}}
	process.Stderr = started.errors
	if err := process.Start(); err != nil {
		return nil, err
	}
	go started.read(output)
	return started, nil
}

// read passes on the worker's answers, and closes the channel at their end or after a read error:
// both mean that the worker is gone.
func (w *worker) read(output io.Reader) {
	defer close(w.answers)
	_ = eachLine(output, func(line []byte) error {
		w.answers <- line
		return nil
	})
}

// ask returns the answer to a request, and whether the worker can take another one.
func (w *worker) ask(line []byte) (answer []byte, alive bool) {
	if !bytes.HasSuffix(line, []byte("\n")) {
		line = append(line, '\n')
	}
	if _, err := w.input.Write(line); err != nil {
		return failure("oracle: " + err.Error()), false
	}
	select {
	case answer, alive = <-w.answers:
		if !alive {
			_ = w.process.Wait() // its output says more than its exit status
			answer = failure(fatalError(w.errors.String()))
		}
		return answer, alive
	case <-time.After(timeLimit):
		return failure("timeout"), false
	}
}

func (w *worker) stop() {
	_ = w.process.Process.Kill() // fails only when it has ended by itself
	for range w.answers {
	}
	_ = w.process.Wait()
}

// fatalError finds Go's own line among those that a dying process wrote.
func fatalError(text string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "fatal error: ") {
			return strings.TrimSpace(line)
		}
	}
	return "the process ended"
}
