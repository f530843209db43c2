"""Workflow commands: lines on standard output that the runner acts on.

https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from kalypso_actions.errors import Problem

Level = Literal["error", "warning", "notice"]

MIN_MASKED = 4
"""Shorter values are not masked: they would blot out unrelated text everywhere in the log."""


def annotation_command(level: Level, problem: Problem, title: str, repository: str) -> str:
    """The command that shows a problem, on its file where that lies in `repository` (owner/name).

    The advice stands on a line of its own.
    """
    where = problem.where
    properties = {"title": title}
    text = problem.message
    if where and where.path and _same_repository(where.repository, repository):
        properties["file"] = where.path
        if where.line:
            properties["line"] = str(where.line)
            if where.column:
                properties["col"] = str(where.column)
    elif where:
        text = f"{where}: {text}"
    if problem.advice:
        text += f"\n{problem.advice}"
    return command(level, properties, text)


def mask_commands(secret: str) -> list[str]:
    """The commands that hide a secret in the log: the runner compares line by line."""
    lines = {line.strip() for line in secret.splitlines()}
    return [command("add-mask", {}, line) for line in sorted(lines) if len(line) >= MIN_MASKED]


def command(name: str, properties: Mapping[str, str], text: str) -> str:
    """`::name key=value,…::text`, in the escapes that the runner takes back."""
    written = ",".join(f"{key}={_escaped_property(value)}" for key, value in properties.items())
    return f"::{name}{' ' if written else ''}{written}::{_escaped(text)}"


def escape_workflow_commands(text: str) -> str:
    """Lines of a log that the runner takes for no command, whoever wrote the text.

    The present form (`::name::`) counts where a line begins with it, the old one (`##[name]`)
    wherever it stands.
    """
    return "\n".join(map(_escape_line, text.splitlines()))


def _escape_line(line: str) -> str:
    kept = line.replace("##[", "## [")
    return "\u200b" + kept if kept.lstrip().startswith("::") else kept


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escaped_property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def _same_repository(where: str, repository: str) -> bool:
    """Whether a URL or owner/name is that of the job's repository."""
    place = where.lower().rstrip("/").removesuffix(".git")
    wanted = repository.lower()
    return bool(wanted) and (place == wanted or place.endswith("/" + wanted))
