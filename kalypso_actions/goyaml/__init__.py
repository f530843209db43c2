"""YAML as Go's libraries read and write it: yaml.v2 2.4.0 and yaml.v3 3.0.1."""
