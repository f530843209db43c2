"""The findings of commands of the chain, and of commands in a new clone of the control plane."""

from __future__ import annotations

import json
import os
import re
import tempfile
from contextlib import chdir
from pathlib import Path
from typing import Any, Final

from kalypso_actions.report.chain_document import ChainDocument
from tests.command_line import call_kalypso
from tests.commands.chain.organisation import CONTROL_PLANE, Organisation
from tests.git_repositories import git

Finding = tuple[str, str, str]
"""The code, the file with the line, and the text."""

ENVIRONMENT: Final = re.compile(r"^(?:(?:dev|stage|prod)(?:, |(?=:)))+: ")
"""ci and preview begin the text of a finding with the environments that have it."""

FILE: Final = re.compile(r"(?:https?://\S+: )?(\S+\.yaml:\d+)(?: \(branch \w+\))?")


def of_chain(document: ChainDocument) -> set[Finding]:
    return found(json.loads(document.to_json()))


def found(*documents: dict[str, Any]) -> set[Finding]:
    """Return the problems and warnings of documents."""
    return {
        (item["code"], place(item["where"]), said(item["message"]))
        for document in documents
        for level in ("problems", "warnings")
        for item in document[level]
    }


OF_EXAMPLES: Final = re.compile(
    r" \([^()]+ on [^()]+\)$"  # an example, and the number of others
    r"|(?<= )\d+ (?:file|assignment)s?(?= |$)"
    r"|: '[^']+' writes '<no value>' into .*"
    r"|^\S+ on \S+: | \(the same for \d+ other assignments?\)$"
    r"|(?<=: Kustomization) '[^']+'"
)
"""Parts of messages that depend on the assignments, of which each command sees others."""


def said(message: str) -> str:
    """Return a text without the environments and examples, and without the origin of its files."""
    return OF_EXAMPLES.sub("", FILE.sub(r"\1", ENVIRONMENT.sub("", message)))


def place(where: dict[str, Any] | None) -> str:
    return f"{where['path']}:{where['line']}" if where else ""


def local(acme: Organisation, *arguments: object, before: tuple[str, ...] = ()) -> dict[str, Any]:
    """Run a command in a new clone of the control plane; return its document.

    `before` are arguments of git, which changes the clone first.
    """
    clone = Path(tempfile.mkdtemp(dir=acme.folder))
    git(clone, "clone", "--quiet", str(acme.sandbox.git(CONTROL_PLANE).git_dir), ".")
    git(clone, "remote", "set-url", "origin", acme.url())
    if before:
        git(clone, *before)
    variables = {"PATH": os.environ["PATH"], **acme.sandbox.environment(acme.token)}
    with chdir(clone):
        done = call_kalypso(*arguments, "--json", variables=variables)
    document: dict[str, Any] = json.loads(done.stdout)
    return document
