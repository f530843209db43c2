"""Stories begin with Acme at rest, unless they ask for another beginning."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

import pytest

from tests.chain import opening
from tests.chain.driver import Chain
from tests.chain.opening import Opening
from tests.chain.organisation import Layout


class OpenChain(Protocol):
    """Opens the chain of a layout; what is not `at_rest` has never been scheduled."""

    def __call__(self, layout: Layout, *, at_rest: bool = True) -> Chain: ...


@pytest.fixture(scope="session")
def openings(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Layout], Opening]:
    """Acme at rest in each layout, made once."""
    made: dict[str, Opening] = {}

    def find(layout: Layout) -> Opening:
        key = repr(layout)
        if key not in made:
            made[key] = opening.settled(tmp_path_factory.mktemp("opening"), layout)
        return made[key]

    return find


@pytest.fixture
def open_chain(openings: Callable[[Layout], Opening], tmp_path: Path) -> Iterator[OpenChain]:
    with ExitStack() as stack:

        def begin(layout: Layout, *, at_rest: bool = True) -> Chain:
            folder = tmp_path / "acme"
            if at_rest:
                begun = opening.copied(openings(layout), folder)
            else:
                begun = opening.founded(folder, layout)
            return stack.enter_context(opening.served(begun))

        yield begin


@pytest.fixture
def chain(open_chain: OpenChain) -> Chain:
    """dev, then stage; each has main's first commit."""
    return open_chain(Layout())
