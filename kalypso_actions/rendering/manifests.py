"""Compiled manifests: their interface, their error, and those that are Go templates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from kalypso_actions.model.caches import SizedCache
from kalypso_actions.rendering.data import TemplateData
from kalypso_actions.rendering.functions import FUNCTIONS, REFUSED
from kalypso_go import gotemplate, goyaml


class ManifestError(Exception):
    """A manifest does not compile or render.

    `message` is the engine's complete message, as upstream reports it. `text` is the template that
    failed: the manifest, a text inside it, or the output of an earlier pass. `line` and `column`
    are places in it; they count from 1, and 0 means unknown. `opened` is the position of the block
    that has no end; -1 for other errors.
    """

    def __init__(
        self, message: str, line: int = 0, column: int = 0, text: str = "", opened: int = -1
    ) -> None:
        super().__init__(message)
        self.opened = opened
        self.message = message
        self.line = line
        self.column = column
        self.text = text


class Manifest(Protocol):
    """A manifest, compiled once and rendered for many assignments."""

    @property
    def changes_data(self) -> bool:
        """Whether rendering may change the configuration in the data."""

    def render(self, data: TemplateData) -> str:
        """Return the manifest's text for one assignment. Raises ManifestError."""


PASSES = 8
"""Upstream renders its output again for as long as it contains `{{`; this limits the passes."""

PARSING = 64
"""The work of parsing a character, which takes about 10 microseconds and 300 bytes."""

CACHED_BYTES = 256 << 10
"""Templates have a few kilobytes; a parsed Template takes up to 300 times the space of its text."""

TEMPLATE_NAME = "template"
"""The template's name in upstream's error messages."""

FAILURES = (gotemplate.TemplateError, gotemplate.FunctionError)
"""The errors of an execution."""


class TextManifest:
    """A Go template."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._template = _compile(text)

    @property
    def changes_data(self) -> bool:
        """Whether the template may change its data."""
        return self._template.changes_data

    def render(self, data: TemplateData) -> str:
        """Render repeatedly while the output contains `{{`: values may be templates themselves.

        Such values see the data as the Template has left it, and cannot change it.
        """
        try:
            output = self._template.execute(data.go, budget=data.budget)
        except FAILURES as error:
            raise _failed(error, self._text) from error
        for _ in range(PASSES - 1):
            if "{{" not in output:  # nearly always at once
                return output
            data.later_templates.append(output.count("{{"))
            output = _render_output(output, data)
        start = output.find("{{")
        if start >= 0:
            raise ManifestError(
                f"after {PASSES} passes the output still contains a template: "
                f"{output[start : start + 80]!r}",
                line=output.count("\n", 0, start) + 1,
                column=start - output.rfind("\n", 0, start),
                text=output,
            )
        return output


class ObjectManifest:
    """An object whose texts are Go templates, the form of Templates before 2023-04.

    This renders the texts in nested mappings, leaves keys and lists unchanged, and writes the
    result like yaml.v2.
    """

    def __init__(self, body: Mapping[str, object]) -> None:
        self._body = _compile_object(body)
        self.changes_data = any(text.changes_data for text in _texts(self._body))

    def render(self, data: TemplateData) -> str:
        """Return the object's YAML text."""
        try:
            return goyaml.dump_v2(_render_object(self._body, data))
        except goyaml.YAMLError as error:
            raise ManifestError(str(error)) from error


def _compile_object(value: object) -> object:
    """Copy an object, with each text that contains an action compiled."""
    match value:
        case dict():
            return {key: _compile_object(inner) for key, inner in value.items()}
        case str() if "{{" in value:
            return TextManifest(value)
        case _:
            return value


def _texts(value: object) -> Iterator[TextManifest]:
    if isinstance(value, TextManifest):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)


def _render_object(value: object, data: TemplateData) -> object:
    match value:
        case dict():
            return {key: _render_object(inner, data) for key, inner in value.items()}
        case TextManifest():
            return value.render(data)
        case _:
            return value


_templates: SizedCache[gotemplate.Template] = SizedCache(CACHED_BYTES)


def _compile(text: str) -> gotemplate.Template:
    """Parse the text of a Template once for all environments."""
    template = _templates.get(text)
    if template is None:
        template = _parse(text)
        _templates.put(text, template, len(text))
    return template


def _render_output(text: str, data: TemplateData) -> str:
    """Parse the output of a pass and render it; assignments rarely have the same output."""
    try:
        data.budget.spend(PARSING * len(text), "parsing the output of a pass")
    except gotemplate.LimitError as error:
        raise ManifestError(f"template: {TEMPLATE_NAME}: {error}", text=text) from error
    template = _parse(text)
    try:
        return template.execute(data.copy_of_go(), budget=data.budget)
    except FAILURES as error:
        raise _failed(error, text) from error


def _parse(text: str) -> gotemplate.Template:
    try:
        return gotemplate.parse(text, name=TEMPLATE_NAME, functions=FUNCTIONS, refused=REFUSED)
    except gotemplate.TemplateError as error:
        raise _failed(error, text) from error


def _failed(error: gotemplate.TemplateError | gotemplate.FunctionError, text: str) -> ManifestError:
    if isinstance(error, gotemplate.TemplateError):
        return ManifestError(error.message, error.line, error.column, text, error.opened)
    return ManifestError(str(error))  # Python cannot represent the data
