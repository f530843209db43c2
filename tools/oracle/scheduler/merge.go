package scheduler

type list = []interface{}
type yamlMap = map[interface{}]interface{}

// Merge lays a later configuration value over an earlier one: maps merge deeply, lists by the
// "name" of their maps; the later value replaces any other. Merge changes the earlier value, as the
// operator does.
func Merge(earlier, later interface{}) interface{} {
	switch old := earlier.(type) {
	case list:
		if fresh, ok := later.(list); ok {
			return mergeLists(old, fresh)
		}
	case yamlMap:
		if fresh, ok := later.(yamlMap); ok {
			return mergeMaps(old, fresh)
		}
	}
	return later
}

func mergeLists(merged, later list) list {
	for _, element := range later {
		if !mergeElement(merged, element) {
			merged = append(merged, element)
		}
	}
	return merged
}

// mergeElement merges a map into every map of the same name (two missing names are the same).
// It compares names as Go compares interfaces: a list or a map as a name causes a panic.
func mergeElement(merged list, element interface{}) bool {
	fresh, isMap := element.(yamlMap)
	if !isMap {
		return false
	}
	found := false
	for i, candidate := range merged {
		if old, ok := candidate.(yamlMap); ok && old["name"] == fresh["name"] {
			merged[i] = Merge(old, fresh)
			found = true
		}
	}
	return found
}

func mergeMaps(merged, later yamlMap) yamlMap {
	for key, value := range later {
		if old, ok := merged[key]; ok {
			merged[key] = Merge(old, value)
		} else {
			merged[key] = value
		}
	}
	return merged
}
