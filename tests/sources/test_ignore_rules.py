"""Exclusions by `.sourceignore` and by default."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.sources.source_tree import read_ignore_files
from tests.git_repositories import git


def excluded(path: str, **files: str) -> bool:
    """Tell whether the `.sourceignore` files of folders (`root` or a name) exclude a path."""
    contents = {
        (".sourceignore" if folder == "root" else f"{folder}/.sourceignore"): text.encode()
        for folder, text in files.items()
    }
    reading = read_ignore_files("repo", contents)
    assert not reading.problems
    return reading.excludes(path)


@pytest.mark.parametrize(
    "path",
    [
        ".git/config",
        "a/.git/x.yaml",
        ".gitignore",
        "a/.gitmodules",
        ".github/workflows/ci.yaml",
        "a/.github/x.yaml",
        ".circleci/config.yml",
        ".travis.yml",
        "a/b/.gitlab-ci.yml",
        "appveyor.yml",
        ".drone.yml",
        "cloudbuild.yaml",
        "a/codeship-services.yml",
        "codeship-steps.yml",
        ".goreleaser.yml",
        "a/.sops.yaml",
        "a/b/.flux.yaml",
        "a/logo.png",
        "a.tar.gz",
    ],
)
def test_default_exclusions(path: str) -> None:
    assert excluded(path)


@pytest.mark.parametrize(
    "path", ["a.yaml", ".environments/dev.yaml", ".github", "github/a.yaml", "sops.yaml", "a.gz"]
)
def test_everything_else_counts(path: str) -> None:
    assert not excluded(path)


@pytest.mark.parametrize(
    ("patterns", "left_out", "counting"),
    [
        (".environments/\n", ".environments/dev.yaml", "environments/dev.yaml"),
        ("/a.yaml\n", "a.yaml", "b/a.yaml"),
        ("b/a.yaml\n", "b/a.yaml", "c/b/a.yaml"),
        ("a.yaml\n", "b/c/a.yaml", "b/ca.yaml"),
        ("*.yaml\n!keep.yaml\n", "b/a.yaml", "b/keep.yaml"),
        ("/*\n!/deploy\n", "src/a.yaml", "deploy/b/a.yaml"),
        ("/*\n!/deploy\n/deploy/**/*.yml\n", "deploy/b/a.yml", "deploy/b/a.yaml"),
        ("**/test/\n", "a/test/b/x.yaml", "a/test"),
        ("a/**/x.yaml\n", "a/b/c/x.yaml", "b/a/x.yaml"),
        ("a?.yaml\n", "ab.yaml", "a.yaml"),
        ("[ab].yaml\n", "a.yaml", "c.yaml"),
        ("# a comment\n\n\\#x.yaml\n", "#x.yaml", "a comment"),
        ("x.yaml   \r\n", "x.yaml", "y.yaml"),
        ("\ufeffx.yaml\n", "x.yaml", "y.yaml"),
        ("\\!x.yaml\n", "!x.yaml", "x.yaml"),
        ("!.github/\n", ".git/config", ".github/x.yaml"),
        ("!*.png\n", "logo.gif", "logo.png"),
        ("none\n", ".travis.yml", "x.yaml"),
    ],
)
def test_patterns(patterns: str, left_out: str, counting: str) -> None:
    assert excluded(left_out, root=patterns)
    assert not excluded(counting, root=patterns)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a/x.yaml", False),
        ("b/x.yaml", True),
        ("a/y.yaml", True),
        ("a/b/y.yaml", False),
        ("y.yaml", False),
    ],
)
def test_deeper_files_decide_for_their_folder(path: str, *, expected: bool) -> None:
    assert excluded(path, root="x.yaml\n", a="!x.yaml\n/y.yaml\n") is expected


@pytest.mark.parametrize(
    ("patterns", "path"),
    [
        ("*\n!*.yaml\n", "a/b/x.yaml"),
        ("a/\n!a/keep.yaml\n", "a/keep.yaml"),
        ("*.yaml\n!keep/\n", "keep/x.yaml"),
    ],
)
def test_unlike_in_git_a_file_of_an_excluded_folder_can_be_included(
    patterns: str, path: str
) -> None:
    assert not excluded(path, root=patterns)


def test_names_and_patterns_need_not_be_utf8() -> None:
    reading = read_ignore_files("repo", {".sourceignore": b"\xff*.yaml\n"})
    assert reading.excludes("\udcffx.yaml")
    assert not reading.excludes("x\udcff.yaml")


def test_line_that_is_no_pattern_is_a_warning() -> None:
    reading = read_ignore_files("repo", {"a/.sourceignore": b"x\n!\n"})
    (warning,) = reading.warnings
    assert str(warning.where) == "repo: a/.sourceignore:2"
    assert "'!' is not a pattern" in warning.message
    assert reading.excludes("a/x")


@pytest.mark.parametrize("content", [b"x\n" * 1001, b"x" * 1001])
def test_too_much_is_a_problem(content: bytes) -> None:
    (problem,) = read_ignore_files("repo", {".sourceignore": content}).problems
    assert "more than 1000" in problem.message


def test_patterns_too_complex_for_re2_are_a_problem(capfd: pytest.CaptureFixture[str]) -> None:
    (problem,) = read_ignore_files("repo", {".sourceignore": (b"*?" * 450 + b"\n") * 900}).problems
    assert problem.message == "the patterns are too complex"
    capfd.readouterr()  # RE2's own message


SEGMENTS = st.sampled_from(["a", "b", "ab", "*", "a*", "*b", "?", "**", "[ab]", "c.yaml", "*.yaml"])
PATTERNS = st.builds(
    lambda lead, segments, trail: lead + "/".join(segments) + trail,
    st.sampled_from(["", "/"]),
    st.lists(SEGMENTS, min_size=1, max_size=3),
    st.sampled_from(["", "/"]),
).filter(lambda pattern: not pattern.endswith("**/"))  # for Flux this is `**`, for git only folders
PATHS = [
    *("a", "b", "ab", "c.yaml", "a/a", "a/b", "a/ab", "a/c.yaml", "b/a/c.yaml", "a/b/ab/c.yaml"),
    *("ab/a/b", "b/b/b/c.yaml", "b/c.yaml/a"),
]


@given(st.lists(PATTERNS, min_size=1, max_size=4, unique=True))
def test_without_negation_patterns_mean_what_they_mean_to_git(
    tmp_path_factory: pytest.TempPathFactory, patterns: list[str]
) -> None:
    """Compare with `git check-ignore`, for which the paths need not exist."""
    folder = tmp_path_factory.getbasetemp() / "ignoring"
    if not folder.exists():
        git(folder.parent, "init", "--quiet", str(folder))
    text = "\n".join(patterns) + "\n"
    (folder / ".gitignore").write_text(text)
    paths = "\n".join(PATHS).encode()
    ignored = git(folder, "check-ignore", "--no-index", "--stdin", stdin=paths, statuses=(0, 1))
    assert {path for path in PATHS if excluded(path, root=text)} == set(ignored.split())
