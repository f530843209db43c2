"""Merged configuration × JSON Schemas → every violation, in the words of upstream's validator.

    schema = '{"properties": {"PORT": {"type": "number"}}}'
    message = validate({"PORT": "http"}, [schema])  # "" if the configuration is valid
    schema_fault(schema)  # None, or upstream's error for a broken schema with its position

Upstream validates with Go's gojsonschema 1.2.0 (drafts 4, 6 and 7, and a mixture of them if
`$schema` names none). Its algorithm decides which branch of an `anyOf` it reports, which violations
a wrong type hides and how numbers print, so this package repeats the algorithm. It opens no
connection, and every evaluation ends: there are limits for nesting, steps, sizes and numbers, and
regular expressions run in RE2's linear time.
"""

from kalypso_actions.config_schemas.json_values import position_of
from kalypso_actions.config_schemas.keywords import properties, unknown_keywords
from kalypso_actions.config_schemas.validation import schema_fault, validate

__all__ = ["position_of", "properties", "schema_fault", "unknown_keywords", "validate"]
