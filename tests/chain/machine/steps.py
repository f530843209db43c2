"""Random stories: actions of people, clusters and GitHub, in any order."""

from __future__ import annotations

import sys

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant

from tests.chain.machine.acme import LAYOUTS
from tests.chain.machine.rest import Rest
from tests.chain.machine.runs import Runs
from tools.reference.lifecycle import Actor


class Story(Runs, Rest):
    """Acme under faults: the checks of `safety` hold after each step, and it comes to rest.

    A failed story prints its steps.
    """

    @initialize(layout=st.sampled_from(sorted(LAYOUTS)))
    def begin(self, layout: str) -> None:
        self.open(layout)

    @invariant()
    def is_safe(self) -> None:
        self.promotions.look_at_clusters()
        self.observed.every_change_is_allowed({Actor.PEOPLE})
        self.safety.nothing_is_foreign()
        self.safety.nothing_is_doubled()
        self.safety.trees_are_whole()
        self.safety.no_token_is_told()

    def teardown(self) -> None:
        """End the story and its sandbox."""
        with self.served:
            failure = sys.exception()
            try:
                if failure is None and hasattr(self, "chain"):
                    self.come_to_rest()
            except BaseException as error:
                failure = error
                raise
            finally:
                if failure is not None:  # the failed step already raises its own error
                    failure.add_note("\n".join(["The story:", *self.story]))
