"""Merged configuration × JSON Schemas → every violation, in the words of upstream's validator.

Upstream validates with Go's gojsonschema 1.2.0 (drafts 4, 6 and 7, and a mixture of them if
`$schema` names none). Its algorithm decides which branch of an `anyOf` it reports, which violations
a wrong type hides and how numbers print, so this package repeats the algorithm.

    text ── json_decoder → JSON ─ compiler → schema ┐
    config ─ coercion ─ serialization → document ───┴ evaluation → violations ─ validation → message

json_decoder.py      JSON text → values, with Go's errors
json_values.py       JSON values, and the text by which Go compares them
numbers.py           exact numbers, and how Go prints them
compiler.py          JSON → compiled schema
assertions.py        keywords without inner schemas
references.py        `$id` and `$ref`
schema.py            the compiled schema
coercion.py          top-level texts → numbers
serialization.py     configuration → JSON document
evaluation.py        schema × document → violations
budget.py            limits of work and text
result.py            violations and score
keywords.py          misspelled keywords
scalars.py           keywords for numbers and texts
formats.py           `format`
mail_addresses.py    `format: email`
patterns.py          regular expressions
errors.py            errors and limits
validation.py        configuration × schemas → the message

This package opens no connection, and every evaluation ends: there are limits for nesting, steps,
sizes and numbers, and regular expressions run in RE2's linear time.
"""

from kalypso_actions.config_schemas.compiler import CompiledSchema, compile_schema
from kalypso_actions.config_schemas.keywords import unknown_keywords
from kalypso_actions.config_schemas.validation import schema_error, validate

__all__ = ["CompiledSchema", "compile_schema", "schema_error", "unknown_keywords", "validate"]
