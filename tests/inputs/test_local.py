"""Valid and invalid inputs of render, validate and template."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from kalypso_actions.inputs.local import RenderInputs
from kalypso_actions.inputs.paths import PathAtBranch, Source, split_branch


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("https://git.test/o/n", ("https://git.test/o/n", "")),
        ("https://git.test/o/n@dev", ("https://git.test/o/n", "dev")),
        ("https://git.test/o/n@feature/x@y", ("https://git.test/o/n", "feature/x@y")),
        ("https://user@git.test/o/n", ("https://user@git.test/o/n", "")),
        ("https://user@git.test/o/n@dev", ("https://user@git.test/o/n", "dev")),
        ("git@git.test:o/n", ("git@git.test:o/n", "")),
        ("git@git.test:o/n@dev", ("git@git.test:o/n", "dev")),
        ("ssh://git@git.test/o/n.git@dev", ("ssh://git@git.test/o/n.git", "dev")),
        ("../local@dev", ("../local", "dev")),
    ],
)
def test_url_at_branch(place: str, expected: tuple[str, str]) -> None:
    assert split_branch(place) == expected


def test_source() -> None:
    source = Source.parse("https://git.test/o/n@dev=some/path=odd")
    assert (source.url, source.branch, source.path) == (
        "https://git.test/o/n",
        "dev",
        Path("some/path=odd"),
    )


def test_a_folder_whose_name_holds_an_at_sign(tmp_path: Path) -> None:
    folder = tmp_path / "git@ops"
    folder.mkdir()
    assert PathAtBranch.parse(str(folder)) == PathAtBranch(path=folder)
    assert PathAtBranch.parse(f"{folder}@a/b") == PathAtBranch(path=folder, branch="a/b")


def refusal(**given: object) -> str:
    with pytest.raises(ValidationError) as caught:
        RenderInputs.model_validate({"environment": "dev", "environment_dir": "x", **given})
    return str(caught.value.errors()[0]["msg"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"control_plane": "y"}, "only one of --control-plane and --environment-dir is possible"),
        ({"environment": ""}, "name the environment, such as dev"),
        ({"source": ["nothing"]}, "'nothing' is not of the form URL[@BRANCH]=PATH"),
        ({"environment": "--help"}, "'--help' may hold lower-case letters"),
        ({"namespace_scheme": "old"}, "Input should be 'current' or 'legacy'"),
    ],
)
def test_invalid_inputs(given: dict[str, object], message: str) -> None:
    assert refusal(**given).startswith(message)


def test_out_must_not_lie_in_what_is_read(tmp_path: Path) -> None:
    message = refusal(environment_dir=tmp_path, out=tmp_path / "deep" / "out")
    assert message.endswith("which render reads; choose a folder outside")
