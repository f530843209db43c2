"""An answer of Resource Graph, or the lack of one."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Answer:
    """A page of rows.

    total       rows of the whole answer
    truncated   Resource Graph left rows out, and no further page has them
    limit_hit   the scope holds more subscriptions than Resource Graph asked
    skip_token  the token for the next page; "" for the last page
    pause       seconds until the next query is allowed
    """

    rows: list[object] = field(repr=False)
    total: int
    truncated: bool = False
    limit_hit: bool = False
    skip_token: str = ""
    pause: float = 0.0


class PayloadTooLargeError(Exception):
    """The page is too large for an answer of Resource Graph: ask for fewer rows."""


class UnansweredError(Exception):
    """There is no answer to a query, but it may succeed later.

    `wait` is the number of seconds that Azure asks to wait; None if it does not ask.
    """

    def __init__(self, why: str, wait: float | None = None, *, throttled: bool = False) -> None:
        super().__init__(why)
        self.wait = wait
        self.throttled = throttled
