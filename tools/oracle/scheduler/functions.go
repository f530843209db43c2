package scheduler

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"github.com/mitchellh/hashstructure"
	yaml3 "gopkg.in/yaml.v3"
)

// functions are sprig's and the operator's own four, which take precedence.
func functions() template.FuncMap {
	all := sprig.TxtFuncMap()
	all["toYaml"] = ToYAML
	all["stringify"] = stringify
	all["hash"] = Hash
	all["unquote"] = unquote
	return all
}

// FunctionNames lists sprig's and the operator's functions; Go's own are not among them.
func FunctionNames() []string { return slices.Collect(maps.Keys(functions())) }

// ToYAML writes a value as yaml.v3 does, without the last newline; "" if yaml.v3 cannot write it.
func ToYAML(value interface{}) string {
	return strings.TrimSuffix(marshal(value), "\n")
}

func marshal(value interface{}) string {
	text, err := yaml3.Marshal(value)
	if err != nil {
		return ""
	}
	return string(text)
}

// stringify writes a map as YAML in which each list is itself a text of YAML, with a last newline:
// the operator writes the lists by yaml.v3, not by toYaml. A nested mapping of yaml.v2 has another
// type than the one that stringify looks for, and stays a mapping.
func stringify(value interface{}) string {
	object, ok := value.(map[string]interface{})
	if !ok {
		return ToYAML(value)
	}
	texts := make(map[string]interface{}, len(object))
	for key, element := range object {
		switch element.(type) {
		case []interface{}, map[string]interface{}:
			texts[key] = marshal(element)
		default:
			texts[key] = element
		}
	}
	return ToYAML(texts)
}

// Hash is hashstructure's FNV-1 number in decimal digits.
func Hash(value interface{}) (string, error) {
	number, err := hashstructure.Hash(value, nil)
	if err != nil {
		return "", err
	}
	return strconv.FormatUint(number, 10), nil
}

func unquote(value interface{}) string {
	text, ok := value.(string)
	if !ok {
		return ""
	}
	return strings.Trim(strings.Trim(strings.TrimSpace(text), `"`), "'")
}
