package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// Values travel as JSON whose numbers and containers carry their Go type:
// {"int": "5"}, {"list": […]}, {"map": [[key, value], …]}; strings, booleans and null are plain
// JSON.

func decodeValue(encoded []byte) (interface{}, error) {
	trimmed := bytes.TrimSpace(encoded)
	if len(trimmed) == 0 {
		return nil, fmt.Errorf("oracle: no value")
	}
	if trimmed[0] == '"' {
		return decodeString(trimmed)
	}
	if trimmed[0] != '{' {
		var plain interface{}
		if err := json.Unmarshal(trimmed, &plain); err != nil {
			return nil, fmt.Errorf("oracle: bad value: %w", err)
		}
		switch plain.(type) {
		case nil, bool:
			return plain, nil
		}
		return nil, fmt.Errorf("oracle: value without a type: %s", trimmed)
	}
	var tagged map[string]json.RawMessage
	if err := json.Unmarshal(trimmed, &tagged); err != nil || len(tagged) != 1 {
		return nil, fmt.Errorf("oracle: a typed value has one key: %s", trimmed)
	}
	for tag, content := range tagged {
		value, err := decodeTagged(tag, content)
		if err != nil {
			return nil, fmt.Errorf("oracle: %s: %w", tag, err)
		}
		return value, nil
	}
	panic("unreachable: one key was just counted")
}

// escape matches a JSON escape: a pair of surrogates, a lone surrogate for a byte, or another one.
var escape = regexp.MustCompile(`(?i)\\u(?:d[89ab]..\\ud[c-f]..|dc([89a-f].))|\\.`)

// decodeString reads a JSON string, in which a lone surrogate represents a byte that is not UTF-8.
func decodeString(encoded []byte) (string, error) {
	var text strings.Builder
	rest := encoded[1 : len(encoded)-1]
	for len(rest) > 0 {
		part, after, lone := cutAtByte(rest)
		var decoded string
		if err := json.Unmarshal([]byte(`"`+string(part)+`"`), &decoded); err != nil {
			return "", fmt.Errorf("oracle: bad value: %w", err)
		}
		text.WriteString(decoded)
		text.Write(lone)
		rest = after
	}
	return text.String(), nil
}

// cutAtByte returns the text before and after the first escaped byte, and that byte.
func cutAtByte(encoded []byte) (before, after, lone []byte) {
	for _, found := range escape.FindAllSubmatchIndex(encoded, -1) {
		if found[2] < 0 {
			continue
		}
		if lone, err := hex.DecodeString(string(encoded[found[2]:found[3]])); err == nil {
			return encoded[:found[0]], encoded[found[1]:], lone
		}
	}
	return encoded, nil, nil
}

func decodeTagged(tag string, content []byte) (interface{}, error) {
	switch tag {
	case "list":
		return decodeList(content)
	case "strs":
		texts := []string{}
		return texts, json.Unmarshal(content, &texts)
	case "map", "smap", "strmap":
		return decodeMap(tag, content)
	}
	var digits string
	if err := json.Unmarshal(content, &digits); err != nil {
		return nil, err
	}
	switch tag {
	case "int":
		return strconv.Atoi(digits)
	case "int64":
		return strconv.ParseInt(digits, 10, 64)
	case "uint64":
		return strconv.ParseUint(digits, 10, 64)
	case "float64":
		return strconv.ParseFloat(digits, 64)
	}
	return nil, fmt.Errorf("unknown type")
}

func decodeList(content []byte) (interface{}, error) {
	var encoded []json.RawMessage
	if err := json.Unmarshal(content, &encoded); err != nil {
		return nil, err
	}
	elements := make([]interface{}, len(encoded))
	for i, element := range encoded {
		value, err := decodeValue(element)
		if err != nil {
			return nil, err
		}
		elements[i] = value
	}
	return elements, nil
}

func decodeMap(tag string, content []byte) (interface{}, error) {
	var encoded [][2]json.RawMessage
	if err := json.Unmarshal(content, &encoded); err != nil {
		return nil, err
	}
	byAny := map[interface{}]interface{}{}
	byText := map[string]interface{}{}
	texts := map[string]string{}
	for _, pair := range encoded {
		key, err := decodeValue(pair[0])
		if err != nil {
			return nil, err
		}
		value, err := decodeValue(pair[1])
		if err != nil {
			return nil, err
		}
		name, keyIsText := key.(string)
		text, valueIsText := value.(string)
		switch {
		case tag == "map":
			byAny[key] = value
		case tag == "smap" && keyIsText:
			byText[name] = value
		case tag == "strmap" && keyIsText && valueIsText:
			texts[name] = text
		default:
			return nil, fmt.Errorf("not a string: %s", pair)
		}
	}
	switch tag {
	case "map":
		return byAny, nil
	case "smap":
		return byText, nil
	}
	return texts, nil
}

// encodeValue writes the values that yaml.v2 and the merge of configuration values can return.
func encodeValue(value interface{}) ([]byte, error) {
	switch value := value.(type) {
	case nil:
		return []byte("null"), nil
	case bool:
		return strconv.AppendBool(nil, value), nil
	case string:
		return encodeString(value), nil
	case int:
		return number("int", strconv.Itoa(value)), nil
	case int64:
		return number("int64", strconv.FormatInt(value, 10)), nil
	case uint64:
		return number("uint64", strconv.FormatUint(value, 10)), nil
	case float64:
		return number("float64", strconv.FormatFloat(value, 'g', -1, 64)), nil
	case []interface{}:
		return encodeList(value)
	case map[interface{}]interface{}:
		return encodeMap(value)
	}
	return nil, fmt.Errorf("oracle: no way to write a %T", value)
}

func number(tag, digits string) []byte {
	return fmt.Appendf(nil, `{"%s": "%s"}`, tag, digits)
}

func encodeList(elements []interface{}) ([]byte, error) {
	encoded := make([][]byte, len(elements))
	for i, element := range elements {
		var err error
		if encoded[i], err = encodeValue(element); err != nil {
			return nil, err
		}
	}
	return enclosed(`{"list": [`, encoded), nil
}

// encodeMap sorts by the text of the encoded pairs, so that an answer is always the same.
func encodeMap(pairs map[interface{}]interface{}) ([]byte, error) {
	encoded := make([][]byte, 0, len(pairs))
	for key, value := range pairs {
		keyText, err := encodeValue(key)
		if err != nil {
			return nil, err
		}
		valueText, err := encodeValue(value)
		if err != nil {
			return nil, err
		}
		encoded = append(encoded, fmt.Appendf(nil, "[%s, %s]", keyText, valueText))
	}
	sort.Slice(encoded, func(i, j int) bool { return bytes.Compare(encoded[i], encoded[j]) < 0 })
	return enclosed(`{"map": [`, encoded), nil
}

func enclosed(opening string, elements [][]byte) []byte {
	return append(append([]byte(opening), bytes.Join(elements, []byte(", "))...), "]}"...)
}
