"""What people said before of the content that is proposed now."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from kalypso_actions.gitops.taken_out import Content, Past, Rejection
from kalypso_actions.model.history import FileVersion


@dataclass(frozen=True, slots=True)
class ClosedProposal:
    """A pull request of ours that people closed unmerged.

    `commit` is its head, `changes` the files of its proposal as it wanted them.
    """

    number: int
    commit: str
    digest: str | None
    tracking: str | None
    changes: Mapping[str, FileVersion | None]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What follows for a proposal.

    `rejected` says why it is not proposed ("": it may be). `again` are the pull requests whose
    content it contains again. `hold` says why it is not merged automatically ("": it may be).
    """

    rejected: str = ""
    again: tuple[int, ...] = ()
    hold: str = ""


@dataclass(frozen=True, slots=True)
class Rejected:
    """The content of a proposal that people took out before; `is_all`: there is no other in it."""

    content: Mapping[Content, Rejection]
    is_all: bool

    @property
    def commits(self) -> frozenset[str]:
        """The commits whose `sources.json` says what the content was made of."""
        return frozenset(one.commit for one in self.content.values())

    def verdict(self, wished: Collection[str], *, closed: bool, is_as_merged: bool) -> Verdict:
        """The verdict. `wished` are those of `commits` whose inputs people have changed since.

        `closed`: our latest pull request stands closed by people. `is_as_merged`: the branch holds
        exactly what our last merge left.
        """
        again = tuple(sorted({one.number for one in self.content.values()}))
        hold = ""
        if closed:
            hold = "people have rejected the one before it"
        elif again:
            hold = f"it contains again what people took out: {numbers(again)}"
        elif not is_as_merged:
            hold = "the branch holds something else than our last merge left there"
        refused = self.is_all and not self.commits & set(wished)
        return Verdict(self._reason() if refused else "", again, hold)

    def _reason(self) -> str:
        said = {"closed": "closed without merging", "undone": "undone after its merge"}
        parts = []
        for how, what in said.items():
            found = sorted({one.number for one in self.content.values() if one.how == how})
            if found:
                verb = "were" if len(found) > 1 else "was"
                parts.append(f"{numbers(found)} with the same content {verb} {what}")
        return "; ".join(parts)


def rejected(
    wanted: Mapping[str, FileVersion | None],
    key: tuple[str | None, str | None],
    past: Past,
    closed: Iterable[ClosedProposal],
) -> Rejected:
    """Hold a proposal against what people took out.

    `wanted` are the files of ours that it changes, as it wants them; `key` is its digest and the
    commit that it tracks. `closed` are the pull requests of the present era that people closed.
    """
    known: dict[Content, Rejection] = dict(past.taken_out)
    same: Rejection | None = None
    for pull in sorted(closed, key=lambda one: one.number):
        rejection = Rejection(pull.number, "closed", pull.commit)
        for content in pull.changes.items():
            older = known.get(content)
            newest = max(past.brought.get(content, 0), older.number if older else 0)
            if pull.number > newest:
                known[content] = rejection
        if (pull.digest, pull.tracking) == key:
            same = rejection
    if same and all(past.brought.get(one, 0) < same.number for one in wanted.items()):
        # The same tree, though the branch may have changed since.
        return Rejected(dict.fromkeys(wanted.items(), same) or {("", None): same}, is_all=True)
    found = {content: known[content] for content in wanted.items() if content in known}
    return Rejected(found, is_all=bool(wanted) and len(found) == len(wanted))


def numbers(pulls: Sequence[int]) -> str:
    """Pull requests for people: `#2, #3`."""
    return ", ".join(f"#{number}" for number in pulls)
