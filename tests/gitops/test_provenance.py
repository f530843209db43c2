"""Writing and reading `sources.json`."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from kalypso_actions.gitops.provenance import (
    SourcesFile,
    becomes_credible,
    contradicts,
    is_of_another,
    previous_sources,
    read_sources,
    sources_file,
)
from kalypso_actions.model.documents import Revision
from kalypso_actions.model.tree import BaseTree
from tests.breaks import breaks, turned

REVISION = Revision(repository="https://git.test/ä", branch="main", path=".", commit="c", tree="t")
CONTENT = SourcesFile(
    version="1",
    environment="dev",
    options={"namespace-scheme": "current"},
    environment_branch=REVISION,
    base_repos={"main": REVISION},
    registrations={"b": REVISION, "a": REVISION},
    targets={"app-web": "a"},
    workloads={"app": "a"},
)


def sources_of(environment: str, commit: str | None, base_repo: str = "main") -> bytes:
    """Return a file with one BaseRepo at this commit."""
    bases = {base_repo: replace(REVISION, commit=commit)}
    update = {"environment": environment, "base_repos": bases}
    return sources_file(CONTENT.model_copy(update=update))


def test_form() -> None:
    text = sources_file(CONTENT).decode()
    body = json.loads(text)
    assert body["schema"] == "kalypso.sources/v1"
    assert text.endswith("}\n")
    assert json.dumps(body, indent=2, sort_keys=True, ensure_ascii=False) + "\n" == text
    assert "ä" in text


def test_read_back() -> None:
    previous = read_sources(sources_file(CONTENT), "dev")
    assert previous is not None
    assert previous.registrations["a"] == REVISION
    assert previous.targets == {"app-web": "a"}
    assert previous.workloads == {"app": "a"}


def test_the_path_of_a_folder_need_not_be_utf8() -> None:
    odd = replace(REVISION, repository="/tmp/caf\udce9")
    written = sources_file(CONTENT.model_copy(update={"environment_branch": odd}))
    assert json.loads(written)["environmentBranch"]["repository"] == "/tmp/caf\udce9"
    assert read_sources(written, "dev") is not None


@breaks(
    "the sources of another environment count",
    turned(
        "kalypso_actions.gitops.provenance.read_sources",
        "previous and previous.environment == environment",
        "previous",
    ),
)
def test_another_environments_file_does_not_count() -> None:
    assert read_sources(sources_file(CONTENT), "stage") is None
    assert is_of_another(sources_file(CONTENT), "stage")
    assert not is_of_another(sources_file(CONTENT), "dev")
    assert not is_of_another(None, "dev")
    assert not is_of_another(b"not json", "dev")


def base(promoted: str, environment: str = "dev", **commits: str | None) -> BaseTree:
    """Return a branch whose tree was made from these commits of registrations."""
    registrations = {name: replace(REVISION, commit=commit) for name, commit in commits.items()}
    content = CONTENT.model_copy(
        update={
            "environment": environment,
            "registrations": registrations,
            "targets": {f"{name}-web": name for name in commits},
        }
    )
    return BaseTree("r", "dev", "", {}, promoted.encode(), sources_file(content))


@pytest.mark.parametrize(
    ("bases", "commits"),
    [
        # The first branch counts; the next one adds other registrations.
        ([base("m", app="1"), base("m", app="2", other="3")], {"app": "1", "other": "3"}),
        # A branch with the promoted commit comes first.
        ([base("old", app="1", old="0"), base("m\n", app="2")], {"app": "2", "old": "0"}),
        # The first could not read the registration.
        ([base("m", app=None), base("m", app="2")], {"app": "2"}),
        ([base("m", app=None), base("m", other="3")], {"app": None, "other": "3"}),
        # The branch of another environment does not count.
        ([base("m", "stage", app="1"), base("old", app="2")], {"app": "2"}),
    ],
)
def test_several_branches(bases: list[BaseTree], commits: dict[str, str | None]) -> None:
    previous = previous_sources(bases, "dev", "m")
    assert previous is not None
    assert {name: revision.commit for name, revision in previous.registrations.items()} == commits
    assert previous.targets == {f"{name}-web": name for name in commits}


def test_branches_without_a_file() -> None:
    assert previous_sources([], "dev", "m") is None
    assert previous_sources([BaseTree("r", "dev", "", {})], "dev", "m") is None


@pytest.mark.parametrize(
    "content",
    [
        None,
        b"",
        b"not json",
        b"[]",
        b"\xff\xfe",
        b'{"schema": "other/v1"}',
        b'{"schema": "kalypso.sources/v1", "environment": "dev", "targets": [1]}',
        b"[" * 100_000,
    ],
)
def test_other_content_is_none(content: bytes | None) -> None:
    assert read_sources(content, "dev") is None


@breaks(
    "a tree of another commit is credible",
    turned(
        "kalypso_actions.gitops.provenance.contradicts",
        "main is None or main.commit != promoted_commit",
        "main is None",
    ),
)
@pytest.mark.parametrize(
    ("content", "contradicted"),
    [
        (None, False),
        (b"no JSON", False),
        (sources_of("stage", "b" * 40), False),
        (sources_of("dev", "a" * 40), False),
        (sources_of("dev", "b" * 40), True),
        (sources_of("dev", None), True),
        (sources_of("dev", "a" * 40, "other"), True),
    ],
)
def test_whether_a_tree_contradicts_its_tracking_file(
    content: bytes | None, contradicted: bool
) -> None:
    assert contradicts(content, "dev", "a" * 40) == contradicted


AGREES = sources_of("dev", "a" * 40)
CONTRADICTS = sources_of("dev", "b" * 40)


@pytest.mark.parametrize(
    ("old", "new", "credible"),
    [
        (CONTRADICTS, AGREES, True),
        (CONTRADICTS, None, True),
        (CONTRADICTS, sources_of("stage", "b" * 40), True),
        (sources_of("dev", None), AGREES, True),
        (CONTRADICTS, sources_of("dev", "c" * 40), False),
        (AGREES, CONTRADICTS, False),
        (AGREES, AGREES, False),
        (None, AGREES, False),
        (sources_of("stage", "b" * 40), AGREES, False),
    ],
)
def test_a_change_may_make_a_tracking_file_credible(
    old: bytes | None, new: bytes | None, credible: bool
) -> None:
    assert becomes_credible(old, new, "dev", "a" * 40) == credible
