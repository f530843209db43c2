"""Fixtures of stories: Acme at rest, or another opening. Most stories are slow."""

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
from tests.chain.quick_reads import quick_reads

QUICK = {
    "test_no_folder_is_deleted_while_its_owner_is_unknown",
    "test_a_commit_that_still_waits_for_its_approval",
    "test_an_upstream_merge_that_moved_the_tracking_file_alone",
    "test_ci_starts_nothing_with_a_circle",
    "test_a_pull_request_is_merged_while_schedule_pushes_the_next_commit",
    "test_a_commit_goes_through_all_environments",
    "test_a_promotion_that_changes_no_manifest",
    "test_a_file_beside_the_workloads_starts_one_run",
    "test_a_run_that_waits_for_a_runner_is_not_doubled",
    "test_a_close_by_a_bot_is_no_rejection",
}
"""The stories that `make test` plays, because no other test of a rule shows what they show."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark stories as slow, except the quick ones."""
    for item in items:
        is_story = isinstance(item, pytest.Function) and "open_chain" in item.fixturenames
        is_story = is_story and item.path.parent == Path(__file__).parent
        if is_story and item.name.partition("[")[0] not in QUICK:
            item.add_marker(pytest.mark.slow)


class OpenChain(Protocol):
    """Opens the chain of a layout; without `at_rest` nothing has been scheduled yet.

    `over_http`: git asks the server, which looks at permissions.
    """

    def __call__(
        self, layout: Layout, *, at_rest: bool = True, over_http: bool = False
    ) -> Chain: ...


@pytest.fixture(scope="session")
def openings(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Layout], Opening]:
    """Return a function that finds the opening of a layout: Acme at rest, made once."""
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

        def begin(layout: Layout, *, at_rest: bool = True, over_http: bool = False) -> Chain:
            folder = tmp_path / "acme"
            if at_rest:
                begun = opening.copied(openings(layout), folder)
            else:
                begun = opening.founded(folder, layout)
            chain = stack.enter_context(opening.served(begun))
            if not over_http:
                stack.enter_context(quick_reads(chain.acme.sandbox))
            return chain

        yield begin


@pytest.fixture
def chain(open_chain: OpenChain) -> Chain:
    """The chain of dev, then stage; both have main's first commit."""
    return open_chain(Layout())
