"""Merged configuration × JSON Schemas → every violation, in the words of upstream's validator.

Upstream validates with Go's gojsonschema 1.2.0 (drafts 4, 6 and 7, and a mixture of them where
`$schema` names none). Which branch of an `anyOf` is reported, what a wrong type hides and how
numbers print follow from how that library walks, so the walk is its own here.

    text ─ json_text ─→ JSON ─ compiler ─→ schema ┐
    config ─ coercion ─ serialization ─→ document ┴ evaluation ─→ violations ─ validation ─→ message

json_text.py         JSON text → values, with Go's errors
json_values.py       values, and how Go writes them
numbers.py           exact numbers, and how Go prints them
compiler.py          JSON → compiled schema
assertions.py        its keywords that hold no schemas
references.py        `$id` and `$ref`
schema.py            the compiled schema
coercion.py          top-level texts → numbers
serialization.py     configuration → JSON document
evaluation.py        schema × document → violations
outcome.py           violations and score
scalars.py           what is asked of numbers and texts
formats.py           `format`, with mail.py for addresses
patterns.py          regular expressions
errors.py            errors and bounds

Nothing is ever fetched, and nothing hangs: nesting, steps, sizes and numbers are bounded, and
regular expressions are RE2's.
"""

from kalypso_actions.config_schemas.compiler import CompiledSchema, compile_schema
from kalypso_actions.config_schemas.validation import check, problems_of

__all__ = ["CompiledSchema", "check", "compile_schema", "problems_of"]
