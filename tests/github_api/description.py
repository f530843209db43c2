"""Checks of requests, responses and payloads against GitHub's own description of its API.

Each check raises an AssertionError with every violation. `tools.github_api.extract` cuts
`openapi.json` and `ghes-3.17.json` from GitHub's publications.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from jsonschema import Draft202012Validator, ValidationError, validators

from tests.github_api import fields
from tests.github_api.corrections import ADDITIONS, CORRECTIONS
from tests.github_api.formats import FORMATS

Json = Any

FOLDER: Final = Path(__file__).parent
GITHUB: Final = "github.com"
SERVER: Final = "ghes"


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
        name += "-sample.collected"  # described by an example of an action
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
        # Validators of parts are made from this one, so that they find what they refer to.
        extend: Callable[..., type[Draft202012Validator]] = validators.extend
        with_memory = extend(Draft202012Validator, {"$ref": self._referred})
        self._whole = with_memory(document, format_checker=FORMATS)
        self._right: set[tuple[str, bytes]] = set()

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
        """What is wrong with a body, where `described` may hold a content."""
        if "content" not in described:
            if body is not None:
                yield "there is a body, and none is described"
            return
        schema = described["content"]["application/json"]["schema"]
        for error in self._whole.evolve(schema=schema).iter_errors(body):
            for detail in error.context or [error]:
                yield f"{detail.json_path}: {detail.message[:200]}"
        for place in fields.unknown(body, [schema], self.document):
            yield f"{place}: is not known"

    def _referred(
        self, validator: Any, reference: str, value: Json, schema: Json
    ) -> Iterator[ValidationError]:
        """What is wrong with a value where a schema stands elsewhere in the document.

        What was right is right again, if it is the same to the last letter: answers and events
        repeat whole repositories and accounts, and to check those took most of the time.
        """
        key = (reference, blake2b(json.dumps(value).encode(), digest_size=16).digest())
        if key in self._right:
            return
        errors = list(Draft202012Validator.VALIDATORS["$ref"](validator, reference, value, schema))
        if not errors:
            self._right.add(key)
        yield from errors

    def problems_of_text(self, schema: Json, text: str, place: str) -> Iterator[str]:
        """What is wrong with a value in a query or a header."""
        for error in self._whole.evolve(schema=schema).iter_errors(_typed(schema, text)):
            yield f"{place}: {error.message[:200]}"


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
    """A value of a query as what its schema says; the text itself where that fails."""
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
