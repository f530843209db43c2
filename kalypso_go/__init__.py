"""Go's text/template with sprig, and Go's YAML, in pure Python; they know nothing of Kalypso."""
