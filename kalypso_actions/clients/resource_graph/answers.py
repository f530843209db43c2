"""What comes back from Resource Graph."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Answer:
    """A page of rows.

    total       rows of the whole answer
    truncated   Resource Graph left rows out, and no further page has them
    limit_hit   the scope holds more subscriptions than were asked
    skip_token  what the next page is asked with; "" for the last
    pause       seconds until the next question may be asked
    """

    rows: list[object] = field(repr=False)
    total: int
    truncated: bool = False
    limit_hit: bool = False
    skip_token: str = ""
    pause: float = 0.0


class UnansweredError(Exception):
    """The same question may be answered a little later.

    `wait` are the seconds that Azure named, if it did.
    """

    def __init__(self, why: str, wait: float | None = None, *, throttled: bool = False) -> None:
        super().__init__(why)
        self.wait = wait
        self.throttled = throttled
