"""Checks of requests, responses and payloads against GitHub's own description of its API.

Each check raises an AssertionError with every violation. `tools.github_api.extract` cuts
`openapi.json` and `ghes-3.17.json` from GitHub's publications.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from jsonschema_rs import Draft202012, Draft202012Validator, Registry, ValidationError
from jsonschema_rs import ValidationErrorKind as Kind

from tests.github_api.corrections import ADDITIONS, CORRECTIONS

DATE_TIME: Final = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)", re.ASCII
)
MAIL: Final = re.compile(r"[^@\s]+@[^@\s]+")
NAME_WITH_OWNER: Final = re.compile(r"[^/\s]+/[^/\s]+")


def is_date_time(value: str) -> bool:
    """Tell whether a text is a time of RFC 3339, to the second, on a real day."""
    try:
        return bool(DATE_TIME.fullmatch(value)) and bool(datetime.fromisoformat(value))
    except ValueError:
        return False


def is_uri(value: str) -> bool:
    """Tell whether a text has a scheme and a host, and neither blanks nor placeholders."""
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    return bool(parts.scheme and parts.netloc) and not re.search(r"[\s{}]", value)


FORMATS: Final[dict[str, Callable[[str], bool]]] = {
    "date-time": is_date_time,
    "timestamp": is_date_time,
    "uri": is_uri,
    "email": lambda value: bool(MAIL.fullmatch(value)),
    "repo.nwo": lambda value: bool(NAME_WITH_OWNER.fullmatch(value)),
}


Json = Any

FOLDER: Final = Path(__file__).parent
GITHUB: Final = "github.com"
SERVER: Final = "ghes"
DOCUMENT: Final = "urn:github"


def check_answer(
    method: str,
    template: str,
    status: int,
    body: Json,
    headers: Mapping[str, str] | None = None,
    *,
    flavour: str = GITHUB,
) -> None:
    """Check that the operation can give this answer. `headers` are in lower case."""
    problems = answer_problems(method, template, status, body, headers, flavour=flavour)
    _none(problems, f"{method} {template} is answered with {status}", body)


def answer_problems(
    method: str,
    template: str,
    status: int,
    body: Json,
    headers: Mapping[str, str] | None = None,
    *,
    flavour: str = GITHUB,
) -> list[str]:
    """Return an answer's violations of the description."""
    description = describe(flavour)
    answer = description.answer(method, template, status)
    problems = list(description.problems(answer, body))
    for name, header in answer.get("headers", {}).items():
        if headers is not None and name.lower() in headers:
            text = headers[name.lower()]
            problems += description.problems_of_text(header["schema"], text, f"header {name}")
    return problems


def check_request(
    method: str,
    template: str,
    query: Mapping[str, str],
    body: Json,
    *,
    flavour: str = GITHUB,
) -> None:
    """Check that the operation accepts a request, and that nothing required is missing.

    `body` is None for a request without one.
    """
    description = describe(flavour)
    operation = description.operation(method, template)
    parameters = {
        parameter["name"]: parameter
        for parameter in operation["parameters"]
        if parameter["in"] == "query"
    }
    problems = [
        f"?{name}: is missing"
        for name, parameter in parameters.items()
        if parameter["required"] and name not in query
    ]
    for name, text in query.items():
        if name in parameters:
            problems += description.problems_of_text(parameters[name]["schema"], text, f"?{name}")
        else:
            problems.append(f"?{name}: is not known")
    content = operation.get("requestBody", {"required": False})
    if body is not None or content["required"]:
        problems += description.problems(content, body)
    _none(problems, f"{method} {template} is requested", body)


def check_payload(event: str, payload: Json) -> None:
    """Check an event's payload against GitHub's webhooks."""
    description = describe(GITHUB)
    name = event.replace("_", "-")
    if event == "repository_dispatch":
        name += "-sample.collected"  # the description only has an example of this action
    elif "action" in payload:
        name += "-" + payload["action"].replace("_", "-")
    hook = description.document["webhooks"].get(name)
    assert hook, f"{name} is no event that GitHub's description knows"
    problems = list(description.problems(hook["post"]["requestBody"], payload))
    _none(problems, f"the event {name} is sent", payload)


class Description:
    """An OpenAPI 3.1 document."""

    def __init__(self, document: Json) -> None:
        self.document = document
        self._registry = Registry([(DOCUMENT, document)], draft=Draft202012)
        self._validators: dict[str, Draft202012Validator] = {}

    def operation(self, method: str, template: str) -> Json:
        """Return the description of an operation; AssertionError if there is none."""
        operation = self.document["paths"].get(template, {}).get(method.lower())
        assert operation, f"{method} {template} is no operation of GitHub's description"
        return operation

    def answer(self, method: str, template: str, status: int) -> Json:
        """Return the description of an operation's answer; AssertionError without this status."""
        answers = self.operation(method, template)["responses"]
        if str(status) in answers:
            return answers[str(status)]
        for addition in ADDITIONS:
            if addition.status == status and addition.meets(method, template):
                schema = {"$ref": f"#/components/schemas/{addition.schema}"}
                return {"content": {"application/json": {"schema": schema}}}
        raise AssertionError(f"{method} {template} is never answered with {status}")

    def problems(self, described: Json, body: Json) -> Iterator[str]:
        """Yield the violations of a body, which must be None if `described` has no content."""
        if "content" not in described:
            if body is not None:
                yield "there is a body, and none is described"
            return
        schema = described["content"]["application/json"]["schema"]
        for error in self._validator(schema).iter_errors(body):
            for detail in _details(error):
                yield f"{_json_path(detail)}: {detail.message[:200]}"
        for place in unknown_fields(body, [schema], self.document):
            yield f"{place}: is not known"

    def problems_of_text(self, schema: Json, text: str, place: str) -> Iterator[str]:
        """Yield the violations of a value in a query or a header."""
        for error in self._validator(schema).iter_errors(_typed(schema, text)):
            yield f"{place}: {error.message[:200]}"

    def _validator(self, schema: Json) -> Draft202012Validator:
        """Return the compiled validator of a schema that refers to parts of the document."""
        text = json.dumps(schema)
        if text not in self._validators:
            absolute = json.loads(text.replace('"$ref": "#', f'"$ref": "{DOCUMENT}#'))
            self._validators[text] = Draft202012Validator(
                absolute, formats=FORMATS, validate_formats=True, registry=self._registry
            )
        return self._validators[text]


def _details(error: ValidationError) -> Iterator[ValidationError]:
    """Yield the errors of each alternative; the error itself if it has none."""
    if isinstance(error.kind, Kind.AnyOf | Kind.OneOfNotValid):
        for alternative in error.kind.context:
            yield from alternative
    else:
        yield error


def _json_path(error: ValidationError) -> str:
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.instance_path)
    return "$" + "".join(parts)


@cache
def describe(flavour: str) -> Description:
    """Return the description of github.com, or of GitHub Enterprise Server where it differs."""
    document = published()
    if flavour == SERVER:
        server = _read("ghes-3.17.json")
        document["paths"].update(server["paths"])
        document["components"]["schemas"].update(server["components"]["schemas"])
    for correction in CORRECTIONS:
        correction.apply(document)
    return Description(document)


def published() -> Json:
    """Return GitHub's description of github.com, cut but not corrected."""
    return _read("openapi.json")


def _read(name: str) -> Json:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def _typed(schema: Json, text: str) -> Json:
    """Return a value of a query with the type of its schema; the text itself if that fails."""
    match schema.get("type"):
        case "integer" if re.fullmatch(r"-?[0-9]+", text):
            return int(text)
        case "boolean" if text in {"true", "false"}:
            return text == "true"
        case "array":
            return [_typed(schema["items"], word) for word in text.split(",")]
        case _:
            return text


def _none(problems: list[str], what: str, body: Json) -> None:
    if problems:
        shown = json.dumps(body)[:500]
        raise AssertionError("\n  ".join([f"{what}, but:", *problems]) + f"\n{shown}")


def unknown_fields(
    value: Json, schemas: Sequence[Json], document: Json, place: str = "$"
) -> Iterator[str]:
    """Yield the place of each field that no schema names.

    GitHub's schemas leave objects open, so a validator accepts any further field.
    """
    if not isinstance(value, list | dict):
        return
    parts = [part for schema in schemas for part in _parts(schema, document)]
    if isinstance(value, list):
        items = [part["items"] for part in parts if "items" in part]
        for index, item in enumerate(value):
            yield from unknown_fields(item, items, document, f"{place}[{index}]")
    else:
        objects = [part for part in parts if _describes_an_object(part)]
        if all(map(_names_its_fields, objects)) and objects:
            for name, content in value.items():
                inner = [part["properties"][name] for part in objects if name in part["properties"]]
                if inner:
                    yield from unknown_fields(content, inner, document, f"{place}.{name}")
                else:
                    yield f"{place}.{name}"


def _parts(schema: Json, document: Json) -> Iterator[Json]:
    """Yield the schema itself, or the parts that it combines."""
    if "$ref" in schema:
        target = document
        for word in schema["$ref"].removeprefix("#/").split("/"):
            target = target[word]
        yield from _parts(target, document)
        return
    combined = (*schema.get("allOf", ()), *schema.get("anyOf", ()))
    if not combined or "properties" in schema:
        yield schema
    for part in combined:
        yield from _parts(part, document)


def _describes_an_object(part: Json) -> bool:
    types = part.get("type", ())
    return "object" in ((types,) if isinstance(types, str) else types) or "properties" in part


def _names_its_fields(part: Json) -> bool:
    return "properties" in part and not part.get("additionalProperties")
