"""The forms of repositories, revisions and folders that Flux and Argo CD accept.

Flux: https://fluxcd.io/flux/components/source/gitrepositories/ and its siblings; Argo CD:
https://argo-cd.readthedocs.io/en/stable/user-guide/tracking_strategies/ and `oci/`, `helm/` beside
it. Each check returns "" or the fault, as a phrase that continues `the field …`. An empty text has
no fault: upstream's custom resource definitions require the field, not a value.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_REPOSITORY: Final = re.compile(r"[\w/.~][\w\-.~:/?#\[\]@!$&()*+,;=%]*")
"""The characters of RFC 3986 without quotes: a URL, an scp form (`git@host:owner/name`), or the
bare registry that Argo CD takes for Helm charts (`registry-1.docker.io/bitnamicharts`)."""

_NOT_IN_REF: Final = re.compile(
    r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock/|^[-./]|(?:[./]|\.lock)\Z"
)
"""Names that `git check-ref-format` refuses, and options of git."""

_OF_BRANCHES: Final = re.compile(r"^/*(?:refs/heads/|(?:refs/)?remotes/[^/]+/|origin/|heads/)+")
"""The beginnings of the full names of branches, here and at a remote."""

_DIGEST: Final = re.compile(r"(?:[\w.-]+@)?sha(?:256|512):[0-9a-f]+")
"""The digest of an OCI artifact, optionally after its tag."""

_VERSION: Final = (
    r"v?(?:[0-9]++|[xX*])(?:\.(?:[0-9]++|[xX*])){0,2}(?:-[0-9A-Za-z.-]++)?(?:\+[0-9A-Za-z.-]++)?"
)
_CONSTRAINT: Final = rf"(?:[=!<>]=|=[<>]|~>|[=<>~^])? *+{_VERSION}"
_RANGE: Final = re.compile(rf"{_CONSTRAINT}(?:(?: *+(?:,|\|\|) *+| - | ++){_CONSTRAINT})*+")
"""The constraints of Masterminds/semver, which Flux and Argo CD use.

Examples: `>=1.0.0 <2.0.0`, `1.x`, `*-0`.
"""

_NOT_IN_PATH: Final = re.compile(r'[\\"<>|:`]')
"""Not every system can check out a folder with these characters. `*` and `?` belong to globs, as in
`directories` of Argo CD's git generator (https://argo-cd.readthedocs.io/en/stable/operator-manual/
applicationset/Generators-Git/); Flux takes no globs."""


def repository_fault(text: str) -> str:
    """Check `repo`."""
    if text and not _REPOSITORY.fullmatch(text):
        return "is neither a URL nor a host with a path; write other characters in the form %20"
    return ""


def revision_fault(text: str) -> str:
    """Check `branch`: a branch, tag, commit, ref, range of versions, or digest."""
    if not text or _RANGE.fullmatch(text) or _DIGEST.fullmatch(text):
        return ""
    if text == "@" or _NOT_IN_REF.search(text):
        return "is not a branch, a tag, a commit or a range of versions"
    return ""


@lru_cache(maxsize=1024)
def branch_fault(text: str) -> tuple[str, str]:
    """Return the fault of a branch's name, and the name that was probably meant; "" for none.

    Git has the names `refs/heads/dev` and `origin/dev` for the branch `dev`; as the name of a
    branch, they mean `refs/heads/refs/heads/dev`.
    """
    meant = _OF_BRANCHES.sub("", text.strip()).strip("/")
    if text in {"", "@", "HEAD"} or _NOT_IN_REF.search(text):
        is_possible = meant not in {"", "@", "HEAD"} and not _NOT_IN_REF.search(meant)
        return "git refuses as the name of a branch", meant if is_possible else ""
    return (
        ("begins with what git puts before the name of a branch", meant)
        if meant != text
        else ("", "")
    )


def folder_fault(text: str) -> str:
    """Check `path`, with or without `./` or `/` at its beginning."""
    if text != text.strip() or _NOT_IN_PATH.search(text):
        return "is not a path of a folder"
    return ""
