"""Workflow commands: lines on standard output that the runner executes.

https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
"""

from __future__ import annotations

from collections.abc import Mapping

from kalypso_actions.errors import Finding

MIN_MASKED = 4
"""Masking shorter values would hide unrelated text all over the log."""


def annotation_command(finding: Finding, title: str, repository: str) -> str:
    """Return the command that shows a finding, at its file if that is in `repository` (owner/name).

    The advice has its own line.
    """
    where = finding.where
    properties = {"title": title}
    text = finding.message
    if where and where.path and _same_repository(where.repository, repository):
        properties["file"] = where.path
        if where.line:
            properties["line"] = str(where.line)
            if where.column:
                properties["col"] = str(where.column)
    elif where:
        text = f"{where}: {text}"
    if finding.code:
        text += f" [{finding.code}]"
    if finding.advice:
        text += f"\n{finding.advice}"
    return command("notice" if finding.level == "note" else finding.level, properties, text)


def mask_commands(secret: str) -> list[str]:
    """Return the commands that mask a secret: one for each line, because the runner masks lines."""
    lines = {line.strip() for line in secret.splitlines()}
    return [command("add-mask", {}, line) for line in sorted(lines) if len(line) >= MIN_MASKED]


def command(name: str, properties: Mapping[str, str], text: str) -> str:
    """Return `::name key=value,…::text`, escaped as the runner expects it."""
    written = ",".join(f"{key}={_escaped_property(value)}" for key, value in properties.items())
    return f"::{name}{' ' if written else ''}{written}::{_escaped(text)}"


def escape_workflow_commands(text: str) -> str:
    """Escape the workflow commands in a text, so that the runner only logs it.

    The current form (`::name::`) counts at the start of a line, the old one (`##[name]`) anywhere.
    """
    return "\n".join(map(_escape_line, text.splitlines()))


def _escape_line(line: str) -> str:
    escaped = line.replace("##[", "## [")
    return "\u200b" + escaped if escaped.lstrip().startswith("::") else escaped


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escaped_property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def _same_repository(where: str, repository: str) -> bool:
    """Whether a URL or owner/name is the job's repository."""
    name = where.lower().rstrip("/").removesuffix(".git")
    job_repository = repository.lower()
    return bool(job_repository) and f"/{name}".endswith(f"/{job_repository}")
