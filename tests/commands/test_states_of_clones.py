"""What git knows of a clone, and `validate` tells: merges, ignored files, submodules, old branches."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kalypso_actions.clients.git.local import GitRepository
from kalypso_actions.sources.source_tree import IgnoreRules
from tests.breaks import breaks, returning
from tests.command_line import call_kalypso
from tests.commands.control_plane_clones import make_clone, template
from tests.git_repositories import commit_branch, git

LAYER = (
    "apiVersion: v1\nkind: ConfigMap\n"
    "metadata: {name: layer, labels: {platform-config: 'true'}}\ndata: {A: b}\n"
)


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = make_clone(tmp_path)
    git(folder, "config", "user.name", "somebody")
    git(folder, "config", "user.email", "somebody@acme.example")
    monkeypatch.chdir(folder)
    return folder


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def ignored_file(clone: Path) -> None:
    write(clone / ".gitignore", "# of this machine\nlocal*\n")
    write(clone / "local.yaml", LAYER)


def ignored_folder(clone: Path) -> None:
    write(clone / "config/.gitignore", "*\n")
    write(clone / "config/layer.yaml", LAYER)


def ignored_for_this_clone(clone: Path) -> None:
    write(clone / ".git/info/exclude", "/layer.yml\n")
    write(clone / "layer.yml", LAYER)


def submodule(clone: Path, path: str = "policies") -> None:
    module = clone / path
    module.mkdir(parents=True)
    git(module, "init", "--quiet")
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.example")
    git(module, *identity, "commit", "--quiet", "--allow-empty", "--message", "Begin")
    git(clone, "-c", "advice.addEmbeddedRepo=false", "add", path)


def committed_submodule(clone: Path) -> None:
    submodule(clone, "teams/policies")
    git(clone, "commit", "--quiet", "--message", "Share the policies")


def deleted_on_one_side(clone: Path) -> None:
    merge(clone, None, "# edited\n")


def edited_on_both_sides(clone: Path) -> None:
    merge(clone, "# ours\n", "# theirs\n")
    git(clone, "show", "HEAD:layer.yaml")
    write(clone / "layer.yaml", LAYER)  # without markers: somebody has only forgotten `git add`


def changed_by_a_filter(clone: Path, stored: str) -> None:
    git(clone, "config", "filter.own.clean", f"printf '{stored}'")
    git(clone, "config", "filter.own.smudge", "cat")
    write(clone / ".gitattributes", "layer.yaml filter=own\n")
    write(clone / "layer.yaml", LAYER)
    git(clone, "add", ".")
    git(clone, "commit", "--quiet", "--message", "Configure")


@pytest.mark.parametrize(
    ("stored", "code"),
    [
        (r"\0GITCRYPT\0\237\001", "file-not-utf-8"),
        (r"version https://git-lfs.github.com/spec/v1\noid sha256:4d\n", "file-lfs-pointer"),
        ("apiVersion: v1  # as a formatter writes it", None),
    ],
    ids=["git-crypt", "Git LFS", "a formatter"],
)
def test_a_file_that_git_stores_in_another_form(clone: Path, stored: str, code: str | None) -> None:
    changed_by_a_filter(clone, stored)
    document = json.loads(call_kalypso("validate", "--json").stdout)
    told = [(item["code"], item["where"]["path"]) for item in document["problems"]]
    assert told == ([(code, "layer.yaml")] if code else [])


def merge(clone: Path, ours: str | None, theirs: str) -> None:
    """Merge two changes of one file, whose conflict remains."""
    write(clone / "layer.yaml", LAYER)
    git(clone, "add", "layer.yaml")
    git(clone, "commit", "--quiet", "--message", "Add a layer")
    git(clone, "checkout", "--quiet", "-b", "theirs")
    write(clone / "layer.yaml", LAYER + theirs)
    git(clone, "commit", "--quiet", "--all", "--message", "Edit")
    git(clone, "checkout", "--quiet", "dev")
    if ours is None:
        git(clone, "rm", "--quiet", "layer.yaml")
    else:
        write(clone / "layer.yaml", LAYER + ours)
    git(clone, "commit", "--quiet", "--all", "--message", "Change")
    with pytest.raises(AssertionError):
        git(clone, "merge", "--quiet", "theirs")


def letter_case(clone: Path) -> None:
    write(clone / "config/layer.yaml", LAYER)
    write(clone / "config/Layer.yaml", LAYER.replace("name: layer", "name: other"))


def forms_of_an_accent(clone: Path) -> None:
    write(clone / "z\u00fcrich.yaml", LAYER)
    write(clone / "zu\u0308rich.yaml", LAYER.replace("name: layer", "name: other"))


def behind(clone: Path) -> None:
    advance_remote(clone)


def behind_and_ahead(clone: Path) -> None:
    advance_remote(clone)
    git(clone, "commit", "--quiet", "--allow-empty", "--message", "Own work")


def another_branch_behind(clone: Path) -> None:
    git(clone, "branch", "--no-track", "main", "origin/main~1")


def advance_remote(clone: Path) -> None:
    """Let the remote branch have a commit that the clone has fetched, and not merged."""
    tree = git(clone, "rev-parse", "HEAD^{tree}")
    commit = git(clone, "commit-tree", tree, "-p", "HEAD", "-m", "Theirs")
    git(clone, "update-ref", "refs/remotes/origin/dev", commit)


@breaks("a branch behind its remote branch is told", returning(GitRepository.behind, ()))
@pytest.mark.parametrize(
    ("make", "code", "place", "advice"),
    [
        (ignored_file, "document-ignored", ".gitignore:2", "remove the line"),
        (ignored_folder, "document-ignored", "config/.gitignore:1", "remove the line"),
        (ignored_for_this_clone, "document-ignored", "layer.yml:1", "remove the line"),
        (submodule, "submodule-ignored", "policies:0", "replace it by the files"),
        (committed_submodule, "submodule-ignored", "teams/policies:0", "replace it by the files"),
        (deleted_on_one_side, "merge-unfinished", "layer.yaml:0", "git rm layer.yaml"),
        (edited_on_both_sides, "merge-unfinished", "layer.yaml:0", "git add layer.yaml"),
        (letter_case, "paths-alike", "config/layer.yaml:0", "rename one"),
        (forms_of_an_accent, "paths-alike", "z\u00fcrich.yaml:0", "rename one"),
        (behind, "branch-behind", ":0", "git merge --ff-only origin/dev"),
        (behind_and_ahead, "branch-behind", ":0", "git merge origin/dev"),
        (another_branch_behind, "branch-behind", ":0", "git fetch origin main:main"),
    ],
)  # fmt: skip
def test_what_git_knows(
    clone: Path, make: Callable[[Path], None], code: str, place: str, advice: str
) -> None:
    assert codes(validated()) == []
    make(clone)
    found = validated()
    (finding,) = [item for item in found["warnings"] if item["code"] == code]
    assert f"{finding['where']['path']}:{finding['where']['line']}" == place
    assert advice in finding["advice"]
    assert codes(found) == [code]


def codes(document: dict[str, Any]) -> list[str]:
    """Return the codes of problems and warnings, without those of the small fleet itself."""
    items = [*document["problems"], *document["warnings"]]
    return [item["code"] for item in items if item["code"] not in OF_THE_FLEET]


OF_THE_FLEET = {"gitops-repo-shared", "environment-early", "config-unused"}


def validated(*arguments: object) -> dict[str, Any]:
    done = call_kalypso("validate", "--json", *arguments)
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@pytest.mark.parametrize("is_committed", [False, True])
@pytest.mark.parametrize(
    ("file", "code"),
    [("a.yaml", "object-duplicate"), ("z.yaml", "object-duplicate"), ("Fleet.yaml", "paths-alike")],
)
def test_of_two_documents_the_newer_one_is_the_culprit(
    clone: Path, file: str, code: str, *, is_committed: bool
) -> None:
    kind = (clone / "fleet.yaml").read_text().partition("---\n")[0]
    write(clone / file, kind if code == "object-duplicate" else LAYER)
    if is_committed:
        git(clone, "checkout", "--quiet", "-b", "change")
        git(clone, "add", file)
        git(clone, "commit", "--quiet", "--message", "Add a file")
    found = validated()
    (finding,) = [each for each in found["problems"] + found["warnings"] if each["code"] == code]
    assert finding["where"]["path"] == file
    assert "fleet.yaml" in finding["message"]
    if is_committed:
        preview = json.loads(call_kalypso("preview", "--base", "dev", "--json").stdout)
        (new,) = [
            each for each in preview["problems"] + preview["warnings"] if each["code"] == code
        ]
        assert new["where"]["path"] == file


@breaks(
    "what .sourceignore excludes is meant to be ignored", returning(IgnoreRules.excludes, False)
)
def test_what_is_meant_to_be_ignored(clone: Path) -> None:
    write(clone / ".gitignore", "out/\n/trees/\nnode_modules/\n")
    write(clone / "out/manifests.yaml", "kind: Deployment\napiVersion: apps/v1\n")
    write(clone / "node_modules/x/template.yaml", template("x"))
    git(clone, "worktree", "add", "--quiet", "trees/main", "origin/main")
    write(clone / "out/draft.yaml", template("draft"))
    write(clone / ".sourceignore", "out/draft.yaml\n")
    assert codes(validated()) == []


def test_the_current_folder_is_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    done = call_kalypso("validate")
    assert done.returncode == 2
    assert "the current folder no longer exists" in done.stderr


def test_the_commit_of_main_goes_back(clone: Path) -> None:
    """A hold says why: `kalypso rollback` writes both in one commit."""
    base = clone / "base-repo.yaml"
    older, newer = (git(clone, "rev-parse", f"origin/main{steps}") for steps in ("~1", ""))
    set_commit(base, newer)
    git(clone, "commit", "--quiet", "--all", "--message", "Promote")
    git(clone, "update-ref", "refs/remotes/origin/dev", "HEAD")
    assert codes(validated()) == []
    git(clone, "checkout", "--quiet", "-b", "back")
    set_commit(base, older)
    assert codes(validated()) == ["base-commit-older"]
    git(clone, "commit", "--quiet", "--all", "--message", "Merge something")
    (finding,) = validated()["warnings"]
    assert (finding["code"], finding["where"]["path"]) == ("base-commit-older", "base-repo.yaml")
    assert f"from {newer[:7]} to {older[:7]}: the environment loses 1 commit" in finding["message"]
    preview = json.loads(call_kalypso("preview", "--base", "dev", "--json").stdout)
    assert codes(preview) == ["base-commit-older"]
    write(clone / ".github/kalypso/promotion.yaml", HOLD)
    git(clone, "add", ".")
    git(clone, "commit", "--quiet", "--message", "Hold")
    assert codes(validated()) == []
    preview = json.loads(call_kalypso("preview", "--base", "dev", "--json").stdout)
    assert codes(preview) == []


HOLD = (
    "apiVersion: kalypso.io/v1alpha1\nkind: PromotionPolicy\nmetadata: {name: dev}\n"
    "spec: {holds: [{reason: incident, by: alice}]}\n"
)


def set_commit(file: Path, commit: str) -> None:
    file.write_text(re.sub(r"commit: \w+", f"commit: {commit}", file.read_text()))


def test_a_gitops_branch_that_does_not_exist(clone: Path, tmp_path: Path) -> None:
    """A repository on this machine is looked at; no other one is."""
    url = "https://git.test/acme/gitops"
    commit_branch(tmp_path / "gitops", {"a": "1"}, "dev")
    commit_branch(tmp_path / "gitops", {"a": "1"}, "stage")
    source = ("--source", f"{url}={tmp_path / 'gitops'}")
    assert codes(validated(*source)) == []
    fleet = clone / "fleet.yaml"
    fleet.write_text(fleet.read_text().replace("gitops, branch: dev", "gitops, branch: develop"))
    assert codes(validated()) == []
    found = validated(*source)
    assert codes(found) == ["gitops-branch-unreadable"]
    (finding,) = found["warnings"]
    assert (finding["where"]["path"], finding["advice"]) == ("fleet.yaml", "is 'dev' meant?")
