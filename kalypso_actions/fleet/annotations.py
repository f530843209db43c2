"""Kalypso's annotations by kind, and warnings of misspelled ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from kalypso_actions.errors import Problem
from kalypso_actions.model import kinds
from kalypso_actions.model.documents import Document
from kalypso_actions.model.nearest import nearest

_PREFIX: Final = "kalypso.io/"

_OF_ALL_KINDS: Final = (kinds.IGNORE_ANNOTATION, kinds.IGNORE_REASON_ANNOTATION)

_OF_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "Environment": (
        kinds.FIRST_ENVIRONMENT_ANNOTATION,
        kinds.NEXT_ENVIRONMENT_ANNOTATION,
        "kalypso.io/scheduler",
    ),
    "SchedulingPolicy": ("kalypso.io/placement", "kalypso.io/placement-scope"),
    "ClusterType": (
        kinds.COMPLIANCE_ANNOTATION,
        "kalypso.io/taints",
        "kalypso.io/cluster-sets",
        "kalypso.io/allocatable",
        "kalypso.io/capacity",
    ),
    "Template": (kinds.ENGINE_ANNOTATION, kinds.DOCUMENTS_FROM_ANNOTATION),
    "Workload": (kinds.FOREIGN_ENVIRONMENTS_ANNOTATION,),
}

_VALUES: Final[Mapping[str, tuple[str, ...]]] = {
    kinds.FIRST_ENVIRONMENT_ANNOTATION: ("true", "false"),
    kinds.COMPLIANCE_ANNOTATION: ("none",),
}


def annotation_faults(document: Document) -> Iterator[Problem]:
    """Warn about annotations without effect: misspelled, on the wrong kind, or among labels."""
    own = (*_OF_KINDS.get(document.kind, ()), *_OF_ALL_KINDS)
    subject = f"{document.kind} {document.name!r}"
    for key, value in _texts(document, "annotations").items():
        if key in own:
            allowed = _VALUES.get(key, ())
            if allowed and isinstance(value, str) and value.strip() not in allowed:
                yield Problem(
                    f"{subject}: the annotation {key} has no effect with the value {value!r}",
                    document.at("metadata", "annotations", key),
                    f"write {' or '.join(map(repr, allowed))}",
                    "annotation-value-unknown",
                )
        elif advice := _advice(key, own):
            message = f"{subject}: the annotation {key} has no effect"
            where = document.key_at("metadata", "annotations", key)
            yield Problem(message, where, advice, "annotation-unknown")
    for key in _texts(document, "labels"):
        if key in own:
            yield Problem(
                f"{subject}: {key} is an annotation, but is among the labels",
                document.key_at("metadata", "labels", key),
                "move it to metadata.annotations",
                "annotation-unknown",
            )


def _advice(key: str, own: tuple[str, ...]) -> str:
    """Return advice on an annotation without effect; "" for one that is not Kalypso's."""
    prefix, _, name = key.rpartition("/")
    names = {item.removeprefix(_PREFIX) for item in own}
    if not key.startswith(_PREFIX):
        is_meant = name in names and _is_near(prefix)
        return f"did you mean {_PREFIX}{name}?" if is_meant else ""
    readers = [kind for kind, names in _OF_KINDS.items() if key in names]
    if readers:
        return f"it belongs to {' and '.join(readers)} objects: move it there"
    close = nearest(name, sorted(names))
    return (
        f"did you mean {_PREFIX}{close}?"
        if close
        else f"annotations of this kind: {', '.join(own)}"
    )


def _is_near(prefix: str) -> bool:
    return not prefix or bool(nearest(prefix, ("kalypso.io", "scheduler.kalypso.io")))


def _texts(document: Document, field: str) -> Mapping[str, object]:
    """Return the labels or annotations of a document, without keys that are not strings."""
    match document.body:
        case {"metadata": dict(metadata)}:
            texts = metadata.get(field)
            if isinstance(texts, Mapping):
                return {key: value for key, value in texts.items() if isinstance(key, str)}
    return {}
