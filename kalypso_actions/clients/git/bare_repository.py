"""Create bare repositories without `git init`, which copies templates and is slower."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

ObjectFormat = Literal["sha1", "sha256"]

CONFIGURATION: Final[dict[ObjectFormat, str]] = {
    "sha1": "[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tfsync = none\n",
    "sha256": (
        "[core]\n\trepositoryformatversion = 1\n\tbare = true\n\tfsync = none\n"
        "[extensions]\n\tobjectformat = sha256\n"
    ),
}
"""https://git-scm.com/docs/repository-version. No fsync: git would fetch lost objects again."""


def create_bare_repository(git_dir: Path, object_format: ObjectFormat) -> None:
    """Create an empty repository, unless it exists."""
    if (git_dir / "config").exists():
        return
    for folder in ("objects", "refs"):
        (git_dir / folder).mkdir(parents=True, exist_ok=True)
    (git_dir / "HEAD").write_text("ref: refs/heads/main\n", newline="\n")
    (git_dir / "config").write_text(CONFIGURATION[object_format], newline="\n")


def object_format_of(object_id: str) -> ObjectFormat:
    """Return the object format by the length of an id; sha1 for other texts."""
    return "sha256" if len(object_id) == 64 else "sha1"
