package scheduler

import (
	"bytes"
	"fmt"
	"strings"
	"text/template"
)

// maxPasses bounds re-rendering, which the operator does without end.
const maxPasses = 8

// maxOutput keeps an endless template from taking the machine's memory.
const maxOutput = 64 << 20

// Manifest is a template to render once, or in passes while its output holds "{{".
type Manifest struct {
	Name string
	Text string
	Once bool
}

// Renderer renders any number of manifests with the data of one assignment.
func Renderer(fields Fields) func(Manifest) (string, error) {
	data := newData(fields)
	return func(manifest Manifest) (string, error) { return render(manifest, data) }
}

func render(manifest Manifest, data dataType) (string, error) {
	text := manifest.Text
	for pass := 0; pass < maxPasses; pass++ {
		rendered, err := execute(manifest.Name, text, data)
		if err != nil || manifest.Once || !strings.Contains(rendered, "{{") {
			return rendered, err
		}
		text = rendered
	}
	return "", fmt.Errorf("still contains {{ after %d passes", maxPasses)
}

func execute(name, text string, data dataType) (string, error) {
	parsed, err := template.New(name).Funcs(functions()).Parse(text)
	if err != nil {
		return "", err
	}
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
