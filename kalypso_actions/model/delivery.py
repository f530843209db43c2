"""What a registered repository may deliver."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

RegistrationText = Literal["strict", "any"]

MAX_TARGETS: Final = 10_000
"""An application team writes its targets, and each of them may run on thousands of cluster types.
Large applications have some hundred; one target for each shop or site makes some thousand."""


class DeliveryRules(NamedTuple):
    """The rules for the Workloads of one registration.

    With the `text` any, texts that Templates must not print do not make a registration invalid.
    `max_targets` is the most deployment targets that it may deliver to an environment.
    """

    text: RegistrationText = "strict"
    max_targets: int = MAX_TARGETS


DELIVERY: Final = DeliveryRules()
"""The rules by default."""
