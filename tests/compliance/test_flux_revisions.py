from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.compliance.clusters import synced_commit

SHA = "c4e327286379495f8b6edc2c9c208095b6cc53ab"


@pytest.mark.parametrize(
    "revision",
    [
        f"main/{SHA}",
        f"main@sha1:{SHA}",
        f"sha1:{SHA}",
        f"sha256:{SHA}",
        f"feature/a@b@sha1:{SHA}",
        f"feature/a@b/{SHA}",
        f"main@sha1:{SHA.upper()}",
        f" {SHA}\n",
        SHA,
    ],
)
def test_the_commit_of_a_revision(revision: str) -> None:
    assert synced_commit(revision) == SHA


@given(st.text(alphabet=st.characters(exclude_characters=" ~^:?*[\\\n", codec="ascii"), min_size=1))
def test_branches_of_any_name(branch: str) -> None:
    assert synced_commit(f"{branch}/{SHA}") == SHA
    assert synced_commit(f"{branch}@sha1:{SHA}") == SHA


def test_nothing_synced() -> None:
    assert synced_commit("") == ""
