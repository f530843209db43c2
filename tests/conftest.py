"""Settings and checks of all tests: sandboxes and clients follow GitHub's description.

The findings of hypothesis do not depend on the machine's speed.
"""

from __future__ import annotations

import gc
import itertools
from collections.abc import Iterator
from functools import cache
from typing import Any, Final
from weakref import WeakKeyDictionary

import pytest
from hypothesis import HealthCheck, settings

from kalypso_sandbox import Sandbox
from kalypso_sandbox.github import tokens
from kalypso_sandbox.state import Traffic
from tests.github_api.client_calls import CLIENT_ENDPOINTS
from tests.github_api.traffic import by_client, check_events, check_exchanges
from tests.parameter_ids import readable

# Examples have no time limit: the machine may have other work as well.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("quick", settings.get_profile("any machine"), max_examples=25)
settings.register_profile("thorough", settings.get_profile("any machine"), max_examples=100)
settings.load_profile("quick")


# Thousands of tests are objects that live to the end, so the collector need not look at them again.
gc.disable()


def pytest_collection_finish() -> None:
    """Let the collector look only at objects that the tests make."""
    gc.freeze()
    gc.enable()


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name a case by its values where pytest would number them."""
    return readable(val)


KNOWN: Final[set[bytes]] = set()
"""Kinds of exchanges and of events that were already checked against GitHub's description."""


def check(traffic: Traffic) -> None:
    """Check the traffic against GitHub's description and the list of the clients' endpoints."""
    check_exchanges(traffic, KNOWN)
    for exchange in filter(by_client, traffic):
        endpoint = f"{exchange.method} {exchange.template}"
        assert endpoint in CLIENT_ENDPOINTS or exchange.template in {"argocd", "azure", "git"}, (
            f"{endpoint} is asked, and no call in tests/github_api/*_calls.py lists it"
        )


@pytest.fixture(scope="session", autouse=True)
def outside_of_every_clone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Make the current folder an empty one, because commands read the clone that contains it.

    The user's cache is an empty folder, too.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("empty"))
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session", autouse=True)
def keys_of_apps() -> Iterator[None]:
    """Let sandboxes share a few keys, because making one takes longer than most tests."""
    turns = itertools.cycle(range(4))
    made = cache(lambda _number, make=tokens.new_key: make())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "new_key", lambda: made(next(turns)))
        yield


@pytest.fixture(scope="session", autouse=True)
def every_sandbox_is_held_against_github() -> Iterator[None]:
    """Check when a sandbox ends or forgets its traffic, unless the test has failed already.

    Events of a copied sandbox from before it was opened were checked when the original ended.
    """
    open_folder, end, forget = Sandbox.__init__, Sandbox.__exit__, Traffic.clear
    checked_events: WeakKeyDictionary[Sandbox, int] = WeakKeyDictionary()

    def counted_open(sandbox: Sandbox, *values: Any, **options: Any) -> None:
        open_folder(sandbox, *values, **options)
        checked_events[sandbox] = len(sandbox.store.events)

    def checked_end(sandbox: Sandbox, kind: Any, error: Any, traceback: Any) -> None:
        end(sandbox, kind, error, traceback)
        if kind is None:
            check(sandbox.traffic)
            # Those of old events are on the disk alone.
            told = (
                each for each in sandbox.store.events[checked_events[sandbox] :] if each.payload
            )
            check_events(told, KNOWN)

    def checked_forget(traffic: Traffic) -> None:
        check(traffic)
        forget(traffic)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Sandbox, "__init__", counted_open)
        patch.setattr(Sandbox, "__exit__", checked_end)
        patch.setattr(Traffic, "clear", checked_forget)
        yield
