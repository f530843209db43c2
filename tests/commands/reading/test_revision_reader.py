"""The documents of a revision."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from kalypso_actions.clients.folder import FolderFiles
from kalypso_actions.clients.git import GitFiles, GitRepository
from kalypso_actions.clients.kustomize import find_kustomize
from kalypso_actions.commands.shared.reading.document_reader import (
    KustomizeBuild,
    read_documents,
)
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.documents import FileEntry, Reading, Revision, RevisionFiles
from tests.git_repositories import commit, git, programs, repository
from tests.sources.trees import kustomization, manifest, texts

URL = "https://example.com/org/repo"


def read(
    files: RevisionFiles,
    path: str = ".",
    *,
    kustomize: KustomizeBuild | None = None,
    ignore_sourceignore: bool = False,
) -> Reading:
    return read_documents(
        files,
        repository=URL,
        branch="main",
        path=path,
        kustomize=kustomize,
        ignore_sourceignore=ignore_sourceignore,
    )


def folder(path: Path, files: Mapping[str, str]) -> FolderFiles:
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    return FolderFiles(path)


def names(reading: Reading) -> list[str]:
    return [document.name for document in reading.documents]


@pytest.mark.parametrize(
    ("path", "written"), [("./a/", "a"), ("a", "a"), ("", "."), ("/", "."), (".", ".")]
)
def test_revision_says_what_was_read(tmp_path: Path, path: str, written: str) -> None:
    root = repository(tmp_path / "repo")
    head = commit(root, {"a/x.yaml": manifest("x")})
    reading = read(GitRepository(root, programs()).at_branch("main"), path)
    tree = git(root, "rev-parse", "HEAD:" + ("" if written == "." else written))
    assert reading.revision == Revision(URL, "main", head, written, tree)
    (document,) = reading.documents
    assert str(document.where) == f"{URL}: a/x.yaml:1"


def test_revision_of_a_plain_folder(tmp_path: Path) -> None:
    reading = read(folder(tmp_path, {"a/x.yaml": manifest("x")}), "a")
    assert reading.revision == Revision(URL, "main", None, "a", None)


def test_path_out_of_the_repository(tmp_path: Path) -> None:
    reading = read(folder(tmp_path, {"x.yaml": manifest("x")}), "../x")
    assert reading.revision == Revision(URL, "main", None, "../x", None)
    assert texts(reading.problems) == [":0: the path '../x' leads out of the repository"]


class Rounds:
    """Files that count their reads."""

    def __init__(self, files: GitFiles) -> None:
        self.files = files
        self.rounds: list[list[str]] = []
        self.repository = files.repository
        self.commit = files.commit

    def entries(self, _max_bytes: int = 0, /) -> Mapping[str, FileEntry]:
        return self.files.entries()

    def read(self, paths: Iterable[str], max_bytes: int | None = None) -> Mapping[str, bytes]:
        self.rounds.append(list(paths))
        return self.files.read(self.rounds[-1], max_bytes)

    def tree_id(self, path: str) -> str | None:
        return self.files.tree_id(path)

    def folder_ids(self, _path: str) -> Mapping[str, str]:
        return {}


def test_files_are_read_in_few_rounds_and_only_once(tmp_path: Path) -> None:
    root = repository(tmp_path / "repo")
    files = {f"a/{number}.yaml": manifest(f"n{number}") for number in range(50)}
    extra = {".sourceignore": "a/1.yaml\n", "b/kustomization.yaml": kustomization("x.yaml")}
    commit(root, {**files, **extra, "b/x.yaml": manifest("x"), "readme.md": "no", "c.yaml": "# c"})
    rounds = Rounds(GitRepository(root, programs()).at_branch("main"))
    assert len(names(read(rounds))) == 50
    everything = [path for paths in rounds.rounds for path in paths]
    assert len(rounds.rounds) == 2
    assert len(everything) == len(set(everything)) == 50 + 4


BUILT = {
    "app/kustomization.yaml": kustomization("a.yaml", more="namePrefix: x-\nimages: [{name: y}]\n"),
    "app/a.yaml": manifest("a"),
    "b.yaml": manifest("b"),
}


def test_folder_is_built_once_with_its_files(tmp_path: Path) -> None:
    calls: list[tuple[list[str], str]] = []

    def kustomize(files: Mapping[str, bytes], built: str, /, **_: object) -> bytes:
        calls.append((sorted(files), built))
        return manifest("x-a").encode()

    reading = read(folder(tmp_path, BUILT), kustomize=kustomize)
    assert calls == [(["app/a.yaml", "app/kustomization.yaml"], "app")]
    assert names(reading) == ["x-a", "b"]
    assert str(reading.documents[0].where) == f"{URL}: app/kustomization.yaml:5"
    assert reading.problems == ()


def test_build_that_fails_is_a_problem_and_the_rest_is_read(tmp_path: Path) -> None:
    def kustomize(files: Mapping[str, bytes], built: str, /, **_: object) -> bytes:
        raise KalypsoError("kustomize build failed: words", advice="advice")

    reading = read(folder(tmp_path, BUILT), kustomize=kustomize)
    assert names(reading) == ["b"]
    assert texts(reading.problems) == ["app/kustomization.yaml:5: kustomize build failed: words"]


def test_without_the_program_a_build_is_a_problem(tmp_path: Path) -> None:
    reading = read(folder(tmp_path, BUILT), kustomize=find_kustomize(programs(PATH="")))
    assert names(reading) == ["b"]
    (problem,) = reading.problems
    assert problem.message == (
        "the kustomization has namePrefix, images, which only the kustomize program builds"
    )
    assert "install kustomize" in problem.advice


def test_whole_tree_on_request(tmp_path: Path) -> None:
    files = folder(
        tmp_path,
        {
            ".environments/dev.yaml": manifest("dev", "Environment"),
            ".sourceignore": ".environments/\n",
        },
    )
    assert names(read(files)) == []
    assert names(read(files, ignore_sourceignore=True)) == ["dev"]


def test_unreadable_files_are_raised(tmp_path: Path) -> None:
    with pytest.raises(KalypsoError, match="cannot be read"):
        read(FolderFiles(tmp_path / "nowhere"))
