"""The file in which an environment branch names a commit of main, and its text with another one.

Only the commit changes: comments, order, other fields and other documents stay as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import yaml

from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.model.documents import Document
from kalypso_actions.model.kinds import MAIN_BASE_REPO
from kalypso_actions.model.object_ids import is_commit_id
from kalypso_actions.model.yaml_edits import at_line_end, newline_of, text_of, value_of

# YAML reads `123` and `12e3` as numbers; a commit id can look like either.
LOOKS_LIKE_NUMBER: Final = re.compile(r"[0-9]+(e[0-9]+)?")

NEW_FILE: Final = """\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: BaseRepo
metadata:
  name: {name}
spec:
  repo: {repo}
  branch: {branch}
  path: .
  commit: {commit}
"""
"""The form that upstream writes."""


def with_commit(text: str | None, commit: str, *, repo: str, branch: str, where: Location) -> str:
    """Return `text` with `commit` in the BaseRepo named main, or a complete new file.

    `repo` and `branch` (the control plane's URL and main branch) are for a new document only. Raise
    KalypsoError for a file whose commit cannot be set without another change.
    """
    new = NEW_FILE.format(
        name=MAIN_BASE_REPO, repo=_scalar(repo), branch=_scalar(branch), commit=_scalar(commit)
    )
    if text is None or not text.strip():
        return new
    try:
        documents = list(yaml.compose_all(text, Loader=yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise KalypsoError(
            f"it is not valid YAML: {error}", where, "correct or delete the file", "yaml-invalid"
        ) from error
    specs = [
        _spec(item, where)
        for document in documents
        for item in _items(document)
        if _is_main_node(item)
    ]
    if not specs:
        separator = "" if text.endswith("\n") else "\n"
        begun = any(document is not None for document in documents)
        edited = text + separator + ("---\n" if begun else "") + new
    elif len(specs) > 1:
        message = f"the BaseRepo {MAIN_BASE_REPO!r} is defined twice"
        raise KalypsoError(message, where, "remove one of the two", "object-duplicate")
    else:
        edited = _edited(text, specs[0], _scalar(commit))
    _check(text, edited, commit, where)
    return edited


def _scalar(text: str) -> str:
    """Return `text` in YAML, in quotes if YAML would otherwise read another value."""
    try:
        is_plain = yaml.safe_load(f"a: {text}") == {"a": text}
    except yaml.YAMLError:
        is_plain = False
    return text if is_plain and not LOOKS_LIKE_NUMBER.fullmatch(text) else json.dumps(text)


def _items(document: yaml.Node | None) -> Iterator[yaml.Node | None]:
    """Yield a document, or the items of a list, which may be lists too."""
    items = value_of(document, "items")
    if (text_of(value_of(document, "kind")) or "").endswith("List") and isinstance(
        items, yaml.SequenceNode
    ):
        for item in items.value:
            yield from _items(item)
    else:
        yield document


def _is_main_node(document: yaml.Node | None) -> bool:
    kind = value_of(document, "kind")
    name = value_of(value_of(document, "metadata"), "name")
    return text_of(kind) == "BaseRepo" and text_of(name) == MAIN_BASE_REPO


def _spec(document: yaml.Node | None, where: Location) -> yaml.MappingNode:
    spec = value_of(document, "spec")
    if not isinstance(spec, yaml.MappingNode):
        raise KalypsoError(
            f"the BaseRepo {MAIN_BASE_REPO!r} has no spec to write a commit into",
            where,
            "write repo, branch and path there, or delete the document",
            "base-repo-not-writable",
        )
    return spec


def _edited(text: str, spec: yaml.MappingNode, scalar: str) -> str:
    old = value_of(spec, "commit")
    if old is not None:
        start, end = old.start_mark.index, old.end_mark.index
        space = " " if start == end else ""  # `commit:` alone
        return text[:start] + space + scalar + text[end:]
    if spec.flow_style:
        end = spec.end_mark.index - 1
        comma = ", " if spec.value else ""
        return text[:end].rstrip() + f"{comma}commit: {scalar}" + text[end:]
    last_key, last_value = spec.value[-1]
    newline = newline_of(text)
    head, rest = at_line_end(text, last_value.end_mark.index, newline)
    return f"{head}{' ' * last_key.start_mark.column}commit: {scalar}{newline}{rest}"


def _check(before: str, after: str, commit: str, where: Location) -> None:
    """Raise KalypsoError unless the edited text has this commit, and is otherwise unchanged."""
    wanted = [_without_commit(document) for document in _documents(before)]
    got = _documents(after)
    commits = [commit for document in got for commit in _commits(document)]
    same = [_without_commit(document) for document in got[: len(wanted)]] == wanted
    if commits != [commit] or not same:
        raise KalypsoError(
            "the commit cannot be set without another change",
            where,
            "write the BaseRepo in plain form: one `commit: <id>` below `spec:`",
            "base-repo-not-writable",
        )


def _documents(text: str) -> list[Any]:
    """Return the documents that are not empty; none if the text is not valid YAML."""
    try:
        return [document for document in yaml.safe_load_all(text) if document is not None]
    except yaml.YAMLError:
        return []


def _is_main(document: object) -> bool:
    match document:
        case {"kind": "BaseRepo", "metadata": {"name": str(name)}, "spec": dict()}:
            return name == MAIN_BASE_REPO
    return False


def _commits(document: object) -> Iterator[object]:
    """Yield the commits of the BaseRepos named main in a document or in the items of a list."""
    match document:
        case {"kind": str(kind), "items": list(items)} if kind.endswith("List"):
            for item in items:
                yield from _commits(item)
        case {"spec": dict(spec)} if _is_main(document):
            yield spec.get("commit")


def _without_commit(document: object) -> object:
    if not isinstance(document, dict):
        return document
    match document:
        case {"kind": str(kind), "items": list(items)} if kind.endswith("List"):
            return {**document, "items": [_without_commit(item) for item in items]}
    if not _is_main(document):
        return document
    spec = {key: value for key, value in document["spec"].items() if key != "commit"}
    return {**document, "spec": spec}


BASE_REPO_FILE: Final = "base-repo.yaml"
"""The file of the BaseRepo named main in the environment's folder; people may move it."""


@dataclass(frozen=True, slots=True)
class BaseDocument:
    """The file that holds the BaseRepo named main, and the promoted commit that it names."""

    path: str
    promoted_commit: str | None


def base_document(documents: Iterable[Document]) -> BaseDocument | None:
    """Return the BaseRepo named main among the documents of an environment branch, if any.

    Other faults of the document do not matter here. Raise KalypsoError if two files define it,
    because neither file has precedence.
    """
    main = [
        document
        for document in documents
        if document.kind == "BaseRepo" and document.name == MAIN_BASE_REPO
    ]
    if not main:
        return None
    first = main[0]
    other = next((document for document in main if document.where.path != first.where.path), None)
    if other:
        raise KalypsoError(
            f"the BaseRepo {MAIN_BASE_REPO!r} is already defined in {first.where}",
            other.where,
            "remove one of the two",
            "object-duplicate",
        )
    spec = first.body.get("spec")
    commit = spec.get("commit") if isinstance(spec, dict) else None
    is_valid = isinstance(commit, str) and is_commit_id(commit)
    return BaseDocument(first.where.path, commit if is_valid else None)
