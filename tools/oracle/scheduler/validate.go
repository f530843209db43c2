package scheduler

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	jsoniter "github.com/json-iterator/go"
	"github.com/xeipuuv/gojsonschema"
)

// Validate checks parsed configuration against every schema. The message is the operator's, except
// that a schema's violations are sorted here and in random order there; "" if all schemas hold.
func Validate(config map[string]interface{}, schemas []string) string {
	var messages []string
	for _, schema := range schemas {
		if message := violations(coerced(config), schema); message != "" {
			messages = append(messages, message)
		}
	}
	if messages == nil {
		return ""
	}
	return "Config data validation failed: \n " + strings.Join(messages, "\n")
}

// coerced reads top-level strings as numbers where Go's strconv can.
func coerced(config map[string]interface{}) map[string]interface{} {
	values := make(map[string]interface{}, len(config))
	for key, value := range config {
		values[key] = value
		text, ok := value.(string)
		if !ok {
			continue
		}
		if whole, err := strconv.Atoi(text); err == nil {
			values[key] = whole
		} else if float, err := strconv.ParseFloat(text, 64); err == nil {
			values[key] = float
		}
	}
	return values
}

func violations(values map[string]interface{}, schema string) (message string) {
	defer func() {
		if problem := recover(); problem != nil {
			message = fmt.Sprintf("unable to validate schema: %s", problem)
		}
	}()
	document, err := jsoniter.ConfigCompatibleWithStandardLibrary.Marshal(values)
	if err != nil {
		return err.Error()
	}
	result, err := gojsonschema.Validate(
		gojsonschema.NewBytesLoader([]byte(schema)), gojsonschema.NewBytesLoader(document))
	if err != nil {
		return withoutRoot(err.Error())
	}
	lines := make([]string, 0, len(result.Errors()))
	for _, violation := range result.Errors() {
		lines = append(lines, withoutRoot(fmt.Sprintf("- %s\n", violation)))
	}
	sort.Strings(lines)
	return strings.Join(lines, "")
}

func withoutRoot(message string) string { return strings.ReplaceAll(message, " (root):", "") }
