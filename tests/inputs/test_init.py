"""Valid and invalid inputs of `kalypso init`."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kalypso_actions.errors import UsageError
from kalypso_actions.inputs.local import InitInputs
from kalypso_actions.inputs.reading import checked_inputs

TWO = {"control_plane": "acme/cp", "gitops": "acme/gitops"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "two repositories are required"),
        ({"control_plane": "acme/cp"}, "two repositories are required"),
        ({"control_plane_dir": "."}, "--control-plane-dir and --gitops-dir are required together"),
        ({**TWO, "gitops_dir": "."}, "--control-plane-dir and --gitops-dir are required together"),
        ({**TWO, "gitops": "ACME/CP"}, "--gitops is the control plane itself"),
        ({**TWO, "control_plane": "cp"}, "'cp' is not of the form owner/name"),
        ({**TWO, "control_plane": "a/b/c"}, "'a/b/c' is not of the form owner/name"),
        ({**TWO, "gitops": "https://github.com/a/b"}, "is not of the form owner/name"),
        ({**TWO, "gitops": "acme/.."}, "'acme/..' is not of the form owner/name"),
        ({**TWO, "environments": "Dev"}, "'Dev' may hold lower-case letters"),
        ({**TWO, "environments": "dev,../x"}, "'../x' may hold lower-case letters"),
        ({**TWO, "environments": "dev, --force"}, "'--force' may hold lower-case letters"),
        ({**TWO, "environments": "a" * 64}, "has 64 characters, at most 63 are allowed"),
        ({**TWO, "environments": "dev,dev"}, "'dev' is named twice"),
        ({**TWO, "environments": "kalypso"}, "is the prefix of Kalypso's own branches"),
        ({**TWO, "action": "v0"}, "'v0' is not of the form owner/name@ref"),
        ({**TWO, "action": "a/b"}, "'a/b' is not of the form owner/name@ref"),
        ({**TWO, "action": "a/b@v0\n  - run: x"}, "is not of the form owner/name@ref"),
        ({**TWO, "action": "a/b/c@v0"}, "is not of the form owner/name@ref"),
        (
            {"control_plane_dir": ".", "gitops_dir": ".", "pull_request": True},
            "--pull-request needs repositories on GitHub",
        ),
    ],
)
def test_invalid_inputs(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        checked_inputs(InitInputs, given)


def test_valid_inputs() -> None:
    inputs = checked_inputs(InitInputs, {**TWO, "environments": "dev, prod\n", "token": "secret"})
    assert inputs.environments == ("dev", "prod")
    assert inputs.action == ""  # those of this version, pinned
    assert not inputs.in_clones
    assert "secret" not in repr(inputs)
