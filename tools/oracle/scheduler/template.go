package scheduler

import (
	"bytes"
	"fmt"
	"strings"
	"text/template"
)

// maxPasses bounds re-rendering, which the operator does not bound.
const maxPasses = 8

// maxOutput keeps an endless template from taking the machine's memory.
const maxOutput = 64 << 20

// Manifest is a template to render once, or in passes while its output holds "{{".
type Manifest struct {
	Name string
	Text string
	Once bool
}

// Parsed is a manifest with its template parsed, to render with any number of assignments.
type Parsed struct {
	manifest Manifest
	template *template.Template
}

// Parse parses the template of a manifest.
func Parse(manifest Manifest) (Parsed, error) {
	parsed, err := parse(manifest.Name, manifest.Text)
	return Parsed{manifest, parsed}, err
}

// Renderer renders any number of manifests with the data of one assignment, each parsed for every
// use.
func Renderer(fields Fields) func(Manifest) (string, error) {
	render := ParsedRenderer(fields)
	return func(manifest Manifest) (string, error) {
		parsed, err := Parse(manifest)
		if err != nil {
			return "", err
		}
		return render(parsed)
	}
}

// ParsedRenderer renders any number of parsed manifests with the data of one assignment.
func ParsedRenderer(fields Fields) func(Parsed) (string, error) {
	data := newData(fields)
	return func(parsed Parsed) (string, error) { return render(parsed, data) }
}

func render(parsed Parsed, data dataType) (string, error) {
	manifest, current, rendered := parsed.manifest, parsed.template, ""
	for pass := 0; pass < maxPasses; pass++ {
		var err error
		if pass > 0 {
			if current, err = parse(manifest.Name, rendered); err != nil {
				return "", err
			}
		}
		rendered, err = execute(current, data)
		if err != nil || manifest.Once || !strings.Contains(rendered, "{{") {
			return rendered, err
		}
	}
	return "", fmt.Errorf("still contains {{ after %d passes", maxPasses)
}

func parse(name, text string) (*template.Template, error) {
	return template.New(name).Funcs(functions()).Parse(text)
}

func execute(parsed *template.Template, data dataType) (string, error) {
	var output boundedBuffer
	if err := parsed.Execute(&output, data); err != nil {
		return "", err
	}
	return output.String(), nil
}

type boundedBuffer struct{ bytes.Buffer }

func (b *boundedBuffer) Write(text []byte) (int, error) {
	if b.Len()+len(text) > maxOutput {
		return 0, fmt.Errorf("output larger than %d bytes", maxOutput)
	}
	return b.Buffer.Write(text)
}
