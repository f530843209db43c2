package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"syscall"
	"unicode/utf8"

	"gopkg.in/yaml.v2"
	yaml3 "gopkg.in/yaml.v3"

	"oracle/scheduler"
)

// request is one line of input; which fields count depends on Op.
type request struct {
	Op string

	Text string           // template, config, syntax
	Name string           // template
	Mode string           // template: "passes" (default) or "once"
	Data scheduler.Fields // template

	Value json.RawMessage // toyaml2, toyaml3, hash

	First, Second string // merge

	Schemas []string          // validate
	Config  map[string]string // validate
}

// memoryLimit ends the worker before a request takes the machine's memory.
const memoryLimit = 2 << 30

func answerAll(input io.Reader, output io.Writer) error {
	limit := syscall.Rlimit{Cur: memoryLimit, Max: memoryLimit}
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &limit); err != nil {
		return err
	}
	return eachLine(input, func(line []byte) error {
		_, err := output.Write(answer(line))
		return err
	})
}

// answer is one line of output: {"output": …} or {"error": "…"}.
func answer(line []byte) (encoded []byte) {
	defer func() {
		if problem := recover(); problem != nil {
			encoded = failure(fmt.Sprintf("panic: %v", problem))
		}
	}()
	var asked request
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&asked); err != nil {
		return failure("oracle: bad request: " + err.Error())
	}
	output, err := respond(asked)
	if err != nil {
		return failure(err.Error())
	}
	return append(append([]byte(`{"output": `), output...), "}\n"...)
}

func failure(text string) []byte {
	return append(append([]byte(`{"error": `), encodeString(text)...), "}\n"...)
}

// respond executes a request and returns the output as JSON.
func respond(asked request) ([]byte, error) {
	switch asked.Op {
	case "template":
		manifest, err := manifestOf(asked)
		if err != nil {
			return nil, err
		}
		return textOrError(scheduler.Renderer(asked.Data)(manifest))
	case "toyaml2":
		return marshalled(asked.Value, yaml.Marshal)
	case "toyaml3":
		text, err := marshalled(asked.Value, func(value interface{}) ([]byte, error) {
			text, err := yaml3.Marshal(value)
			return bytes.TrimSuffix(text, []byte("\n")), err
		})
		return text, err
	case "config":
		return encodeValue(scheduler.ParseConfigValue(asked.Text))
	case "merge":
		first := scheduler.ParseConfigValue(asked.First)
		return encodeValue(scheduler.Merge(first, scheduler.ParseConfigValue(asked.Second)))
	case "hash":
		value, err := decodeValue(asked.Value)
		if err != nil {
			return nil, err
		}
		return textOrError(scheduler.Hash(value))
	case "syntax":
		return describeSyntax(asked.Text)
	case "language":
		return describeLanguage()
	case "validate":
		return encodeString(scheduler.Validate(scheduler.ParseConfig(asked.Config), asked.Schemas)), nil
	}
	return nil, fmt.Errorf("oracle: unknown op %q", asked.Op)
}

func manifestOf(asked request) (scheduler.Manifest, error) {
	manifest := scheduler.Manifest{Name: asked.Name, Text: asked.Text, Once: asked.Mode == "once"}
	if manifest.Name == "" {
		manifest.Name = "template"
	}
	if asked.Mode != "" && asked.Mode != "once" && asked.Mode != "passes" {
		return manifest, fmt.Errorf("oracle: unknown mode %q", asked.Mode)
	}
	return manifest, nil
}

func marshalled(tagged []byte, marshal func(interface{}) ([]byte, error)) ([]byte, error) {
	value, err := decodeValue(tagged)
	if err != nil {
		return nil, err
	}
	text, err := marshal(value)
	return textOrError(string(text), err)
}

func textOrError(text string, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return encodeString(text), nil
}

// encodeString writes a JSON string. A byte that is not UTF-8 becomes the lone surrogate
// that represents it in Python ("surrogateescape"); encoding/json would lose it.
func encodeString(text string) []byte {
	var encoded strings.Builder
	encoded.WriteByte('"')
	for len(text) > 0 {
		char, size := utf8.DecodeRuneInString(text)
		switch {
		case char == utf8.RuneError && size == 1:
			fmt.Fprintf(&encoded, `\udc%02x`, text[0])
		case char == '"' || char == '\\':
			encoded.WriteByte('\\')
			encoded.WriteRune(char)
		case char < ' ' || char == 0x7f || char == '\u2028' || char == '\u2029' || char == '\u0085':
			fmt.Fprintf(&encoded, `\u%04x`, char)
		default:
			encoded.WriteRune(char)
		}
		text = text[size:]
	}
	encoded.WriteByte('"')
	return []byte(encoded.String())
}
