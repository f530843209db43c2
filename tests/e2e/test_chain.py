"""The promotion chain as users have it: workflow templates, actions and all, run by act."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kalypso_actions.commands.demo.play import play
from tests.e2e.chain import Chain, opened

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chain]:
    """Acme after all acts of the demo."""
    with opened(tmp_path_factory.mktemp("e2e")) as chain:
        play(chain.stage)
        yield chain


def test_everything_ends_as_it_should(chain: Chain) -> None:
    assert [step for step in chain.told if not step.as_expected] == []
