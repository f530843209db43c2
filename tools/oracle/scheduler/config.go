package scheduler

import (
	"strings"

	"gopkg.in/yaml.v2"
)

// ParseConfig parses every raw value of a ConfigMap.
func ParseConfig(raw map[string]string) map[string]interface{} {
	parsed := make(map[string]interface{}, len(raw))
	for key, text := range raw {
		parsed[key] = ParseConfigValue(text)
	}
	return parsed
}

// ParseConfigValue reads one configuration value: text in single quotes stays a string without
// them; a YAML list or map becomes a list or map; every other text stays unchanged.
func ParseConfigValue(text string) interface{} {
	trimmed := strings.TrimSpace(text)
	if strings.HasPrefix(trimmed, "'") && strings.HasSuffix(trimmed, "'") {
		return strings.Trim(trimmed, "'")
	}
	var value interface{}
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		return text
	}
	switch value.(type) {
	case []interface{}, map[interface{}]interface{}:
		return value
	}
	return text
}
