"""All faults of the sandbox, and how many requests of a call they hit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

from kalypso_sandbox import Fault
from kalypso_sandbox.faults import PUSH_KINDS, FaultKind
from tests.faults.write import Write

Extent = Literal["once", "each time", "from then on"]
"""The requests that the fault hits: the write's request once, or each time; or every request of
the call from the write on, so that the client cannot look anything up either.
"""

EXTENTS: Final[Sequence[Extent]] = get_args(Extent)


CONTENT: Final = ("/issues", "/pulls", "/comments")
"""The ends of paths that have the limit for new content."""

UNCERTAIN: Final[frozenset[FaultKind]] = frozenset({"status", "dropped", "lost", "truncated"})
"""Faults after which it is unknown whether the server has acted."""


@dataclass(frozen=True)
class Disturbance:
    """A fault by its name in the table.

    `hides` means that the server acts, but its response is lost. `ends` means that waiting does not
    help: the call fails with the reason, and the next call begins with the state at that time.
    """

    name: str
    kind: FaultKind
    options: dict[str, Any] = field(default_factory=dict)
    hides: bool = False
    ends: bool = False

    @property
    def uncertain(self) -> bool:
        """Whether it is unknown after the response if the write happened."""
        return self.kind in UNCERTAIN

    def ends_for(self, write: Write) -> bool:
        """Tell whether the call fails at once, without waiting for writes of another run."""
        return self.ends or (self.kind == "lag" and not write.is_recent)

    def meets(self, write: Write, extent: Extent) -> bool:
        """Tell whether the matrix has a cell for this fault of the write."""
        if self.kind == "lag":
            return write.can_lag and extent != "from then on"
        if self.kind == "too-quickly" and not write.endpoint[1].endswith(CONTENT):
            return False
        if write.by_git:
            return "retry_after" not in self.options and (
                self.kind not in PUSH_KINDS or extent != "from then on"
            )
        return self.kind not in PUSH_KINDS

    def fault(self, write: Write, extent: Extent, before: int) -> Fault:
        """Return the sandbox's fault; `before` is the number of requests before the write's."""
        if extent == "from then on":
            return Fault("*", "*", self.kind, count=0, skip=before, **self.options)
        count = 1 if extent == "once" else 0
        return Fault(*write.endpoint, self.kind, count=count, **self.options)


DISTURBANCES: Final = (
    Disturbance("502", "status"),
    Disturbance("502 acted", "status", {"acts": True}, hides=True),
    Disturbance("429", "too-many"),
    Disturbance("429 after", "too-many", {"retry_after": 7}),
    Disturbance("403", "secondary"),
    Disturbance("403 after", "secondary", {"retry_after": 7}),
    Disturbance("422 quick", "too-quickly"),
    Disturbance("lag", "lag"),
    Disturbance("slow", "slow", {"seconds": 0.01}),
    Disturbance("dropped", "dropped"),
    Disturbance("lost", "lost", hides=True),
    Disturbance("doubled", "doubled"),
    Disturbance("half", "truncated", hides=True),
    Disturbance("refused", "refused", ends=True),
    Disturbance("raced", "raced", ends=True),
    Disturbance("cut", "cut"),
)
"""`after` has a header Retry-After; `half` is half a response."""
