"""Clones of the two repositories: commits on their branches, which people push."""

from __future__ import annotations

import json
import os
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kalypso_actions.commands.init import init
from kalypso_actions.errors import UsageError
from kalypso_actions.inputs.local import InitInputs
from kalypso_actions.onboarding.branches import Consent
from kalypso_actions.report.init_document import InitDocument
from tests.command_line import call_kalypso
from tests.commands.init.repositories import WORKFLOWS, outline, runtime
from tests.git_repositories import ENVIRONMENT, commit, git

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Clones of two empty repositories, with origins on github.com."""
    for name in ("control-plane", "gitops"):
        server = tmp_path / "server" / name
        git(tmp_path, "init", "--quiet", "--bare", "--initial-branch=main", str(server))
        git(tmp_path, "clone", "--quiet", str(tmp_path / "server" / name), name)
        git(tmp_path / name, "remote", "set-url", "origin", f"git@github.com:acme/{name}.git")
    return tmp_path


def run(folder: Path, **given: Any) -> InitDocument:
    options = {
        "control_plane_dir": folder / "control-plane",
        "gitops_dir": folder / "gitops",
        "yes": True,
        **given,
    }
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    machine = runtime(environment, lambda: NOON)
    return init(InitInputs.model_validate(options), machine, lambda _: Consent())


def branches(clone: Path) -> list[str]:
    return git(clone, "for-each-ref", "--format=%(refname:short)", "refs/heads").split()


def test_commits_lie_on_local_branches_and_can_be_pushed_at_once(folder: Path) -> None:
    git(folder / "gitops", "remote", "rename", "origin", "upstream")
    document = run(folder)
    assert (document.control_plane, document.gitops) == ("acme/control-plane", "acme/gitops")
    for name in ("control-plane", "gitops"):
        assert branches(folder / name) == ["dev", "main", "stage"]
        assert git(folder / name, "branch", "--show-current") == "main"
        assert git(folder / name, "status", "--porcelain") == ""
        assert git(folder / "server" / name, "for-each-ref") == ""
    assert (folder / "control-plane" / "templates" / "flux.yaml").is_file()
    text = git(folder / "control-plane", "show", "dev:base-repo.yaml")
    assert "repo: https://github.com/acme/control-plane\n" in text
    assert f"commit: {git(folder / 'control-plane', 'rev-parse', 'main')}" in text
    (task,) = [
        remaining for remaining in document.remaining if remaining.title == "Push the commits"
    ]
    for line, name in zip(task.lines, ("gitops", "control-plane"), strict=True):
        remote = {"gitops": "upstream", "control-plane": "origin"}[name]
        assert line == f"git -C {folder / name} push --atomic {remote} dev stage main"
        git(folder / name, "remote", "set-url", remote, str(folder / "server" / name))
        subprocess.run(line.split(), env=ENVIRONMENT, check=True, capture_output=True)
        assert branches(folder / "server" / name) == ["dev", "main", "stage"]


def test_the_written_files_have_no_findings(folder: Path) -> None:
    run(folder)
    control_plane = folder / "control-plane"
    git(folder, "clone", "--quiet", "--bare", str(control_plane), "plane.git")
    source = f"https://github.com/acme/gitops={folder / 'gitops'}"
    done = call_kalypso("validate", folder / "plane.git", "--source", source, "--output", "json")
    document = json.loads(done.stdout)
    entries = [*document["problems"], *document["warnings"], *document["notes"]]
    assert [entry["message"] for entry in entries] == []


def test_again_there_is_nothing_to_do(folder: Path) -> None:
    run(folder)
    document = run(folder)
    assert outline(document) == {}
    assert not document.written
    assert "Push the commits" not in {task.title for task in document.remaining}


def test_branches_of_origin_alone_are_continued(folder: Path) -> None:
    run(folder)
    for name in ("control-plane", "gitops"):
        server = folder / "server" / name
        git(folder / name, "push", "--quiet", str(server), "main", "dev", "stage")
        git(folder, "clone", "--quiet", str(server), f"second-{name}")
        url = f"https://github.com/acme/{name}"
        git(folder / f"second-{name}", "remote", "set-url", "origin", url)
    clones = {
        "control_plane_dir": folder / "second-control-plane",
        "gitops_dir": folder / "second-gitops",
    }
    assert outline(run(folder, **clones)) == {}
    assert branches(folder / "second-control-plane") == ["main"]
    path = f"{WORKFLOWS}/start-schedule.yaml"
    clone = folder / "second-control-plane"
    git(clone, "switch", "--quiet", "dev")
    git(clone, "rm", "--quiet", path)
    removed = commit(clone, {})
    assert outline(run(folder, **clones)) == {"acme/control-plane@dev": [f"add {path}"]}
    assert git(clone, "rev-parse", "HEAD^") == removed
    assert (clone / path).is_file()


@pytest.mark.parametrize(
    ("origin", "given", "url"),
    [
        ("https://github.com/Acme/Fleet.git", {}, "https://github.com/Acme/Fleet"),
        ("ssh://git@ghes.example/acme/fleet", {}, "https://ghes.example/acme/fleet"),
        ("/srv/fleet.git", {"control_plane": "acme/fleet"}, "https://github.com/acme/fleet"),
        (
            "git@ghes.example:acme/old.git",
            {"control_plane": "acme/fleet"},
            "https://ghes.example/acme/fleet",
        ),
    ],
)
def test_names_come_from_origin_or_from_the_option(
    folder: Path, origin: str, given: dict[str, str], url: str
) -> None:
    git(folder / "control-plane", "remote", "set-url", "origin", origin)
    run(folder, **given)
    text = git(folder / "control-plane", "show", "main:.environments/dev.yaml")
    assert f"    repo: {url}\n" in text + "\n"


@pytest.mark.parametrize(
    ("origin", "said"),
    [
        ("/srv/fleet.git", "its origin is /srv/fleet.git"),
        ("https://ann:word@git.test/a/b/c", "its origin is https://***@git.test/a/b/c"),
        ("", "it has no origin"),
    ],
)
def test_a_clone_without_a_usable_origin(folder: Path, origin: str, said: str) -> None:
    clone = folder / "control-plane"
    if origin:
        git(clone, "remote", "set-url", "origin", origin)
    else:
        git(clone, "remote", "remove", "origin")
    with pytest.raises(UsageError, match=re.escape(said)) as caught:
        run(folder)
    assert caught.value.problem.advice == "name it with --control-plane OWNER/NAME"


def test_two_clones_of_one_repository_are_refused(folder: Path) -> None:
    git(folder / "gitops", "remote", "set-url", "origin", "https://github.com/ACME/control-plane")
    with pytest.raises(UsageError, match="is the control plane itself"):
        run(folder)


def test_a_work_tree_with_changes_is_refused_before_anything_is_written(folder: Path) -> None:
    commit(folder / "gitops", {"a.txt": "a"})
    (folder / "gitops" / "a.txt").write_text("b", encoding="utf-8")
    with pytest.raises(UsageError, match="uncommitted"):
        run(folder)
    assert branches(folder / "control-plane") == []


def test_a_dry_run_changes_nothing(folder: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    machine = runtime(environment, lambda: NOON)
    inputs = InitInputs(
        control_plane_dir=folder / "control-plane", gitops_dir=folder / "gitops", dry_run=True
    )
    document = init(inputs, machine, lambda _: None)
    assert outline(document)["acme/control-plane@main"]
    for name in ("control-plane", "gitops"):
        assert git(folder / name, "count-objects").startswith("0 objects")
        assert branches(folder / name) == []
