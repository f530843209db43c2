"""Two of Go's languages in Python: `gotemplate` is text/template with sprig, `goyaml` is YAML."""
