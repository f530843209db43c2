"""The log of the record → a shorter one, which answers for times after a moment as before.

The new log begins with the record of the last look before the moment. What later answers need of
earlier periods comes before it, in commits whose lines the next one takes away: the tables are
made of all lines that ever were there.

desired   of each content that a cluster has then or later, the newest period, for its version;
          and the newest line of each earlier name of a target
real      what a cluster last ran of a content that is wanted then: histories count it
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from kalypso_actions.observations.desired import renames
from kalypso_actions.observations.record import (
    FORMAT,
    FORMAT_FILE,
    DesiredLine,
    Observation,
    RealLine,
    TargetKey,
    line_of,
    parse_line,
    place_of,
)

LogCommit = Mapping[str, tuple[Iterable[str], Iterable[str]]]
"""By path, the lines that a commit of the record takes away and brings."""

Files = Mapping[str, bytes | None]
"""The new contents of a commit's files; None for one that it deletes."""

LOOKS: Final = "observed.tsv"


def pruned(log: Iterable[LogCommit], before: datetime) -> list[Files]:
    """Return the files of a shorter log's commits; none if that leaves nothing out.

    Raises ValueError for a line that does not parse.
    """
    tables: dict[str, set[str]] = {}
    past = _Past(before)
    begin: Files | None = None
    later: list[_Compressed] = []
    number = 0
    for changes in log:
        number += 1
        looks = (parse_line(Observation, text) for text in changes.get(LOOKS, ((), ()))[1])
        if begin is None and any(look.at >= before for look in looks):
            begin = _files(tables, tables)
        for path, (removed, added) in changes.items():
            table = tables.setdefault(path, set())
            table.difference_update(removed)
            table.update(added)
            past.add(path, removed, added, is_later=begin is not None)
        if begin is not None:
            later.append(_Compressed(_files(tables, changes)))
    begin = _files(tables, tables) if begin is None else begin
    earlier = past.commits()
    left = {path for each in earlier for path in each} - {path for path in begin if begin[path]}
    begin = dict.fromkeys(left) | {path: text for path, text in begin.items() if text}
    return [*earlier, begin, *later] if len(earlier) + 1 + len(later) < number else []


class _Compressed(Mapping[str, bytes | None]):
    """The files of a commit, in a twelfth of the memory: the commits of a year have gigabytes."""

    def __init__(self, files: Files) -> None:
        self._files = {
            path: None if content is None else zlib.compress(content, 1)
            for path, content in files.items()
        }

    def __getitem__(self, path: str) -> bytes | None:
        content = self._files[path]
        return None if content is None else zlib.decompress(content)

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


def _files(tables: Mapping[str, set[str]], paths: Iterable[str]) -> Files:
    return {path: _content(tables[path]) for path in paths}


def _content(lines: Iterable[str]) -> bytes | None:
    return "".join(f"{line}\n" for line in sorted(lines)).encode() or None


@dataclass(slots=True)
class _Past:
    """The periods until the moment, and what is read later of them."""

    before: datetime
    desired: dict[tuple[str, TargetKey], dict[int, DesiredLine]] = field(default_factory=dict)
    """By environment and target, and by the number of the period."""
    named: dict[tuple[str, TargetKey, str, str], DesiredLine] = field(default_factory=dict)
    """The newest line of each name."""
    real: dict[tuple[str, tuple[str, str, str]], RealLine] = field(default_factory=dict)
    """By file and configuration."""
    ended: dict[tuple[str, tuple[str, str, str], str], tuple[RealLine, datetime]] = field(
        default_factory=dict
    )
    """The last period with a content that has ended, and when."""
    later: set[str] = field(default_factory=set)
    """The contents that clusters have later."""
    found: list[tuple[str, DesiredLine]] = field(default_factory=list)
    """By environment, what a later look found to be wanted since an earlier time."""

    def add(
        self, path: str, removed: Iterable[str], added: Iterable[str], *, is_later: bool
    ) -> None:
        """Add the lines that a commit takes away and brings."""
        kind = path.partition("/")[0]
        if kind == "real":
            for line in (parse_line(RealLine, text) for text in added):
                if is_later:
                    self.later.add(line.content)
                else:
                    self._add_real(path, line)
        elif kind in {"desired", "desired-before"}:
            environment = _environment(path)
            if kind == "desired" and not is_later:
                for old, new in renames(removed, added):
                    self._rename(environment, old, new)
            for wanted in (parse_line(DesiredLine, text) for text in added):
                if is_later:
                    if wanted.since <= self.before:
                        self.found.append((environment, wanted))
                    continue
                self.desired.setdefault((environment, wanted.target), {})[wanted.number] = wanted
                self.named[environment, wanted.target, wanted.name, wanted.workload] = wanted

    def _rename(self, environment: str, old: DesiredLine, new: DesiredLine) -> None:
        """Give what is known of a target the new name of its repository."""
        periods = self.desired.pop((environment, old.target), {})
        self.desired[environment, new.target] = {
            number: line._replace(repository=new.repository) for number, line in periods.items()
        }
        for name in [each for each in self.named if each[:2] == (environment, old.target)]:
            line = self.named.pop(name)._replace(repository=new.repository)
            self.named[environment, new.target, name[2], name[3]] = line

        def is_its(path: str, target: str) -> bool:
            return target == old.followed and _environment(path) == environment

        for path, key in [each for each in self.real if is_its(each[0], each[1][2])]:
            real = self.real.pop((path, key))._replace(target=new.followed)
            self.real[path, real.key] = real
        for path, key, content in [each for each in self.ended if is_its(each[0], each[1][2])]:
            ran, until = self.ended.pop((path, key, content))
            ran = ran._replace(target=new.followed)
            self.ended[path, ran.key, content] = ran, until

    def _add_real(self, path: str, line: RealLine) -> None:
        known = self.real.get((path, line.key))
        if known and known.status != "gone" and _period(known) != _period(line):
            self.ended[path, line.key, known.content] = known, line.since
        self.real[path, line.key] = line

    def commits(self) -> list[Files]:
        """Return the files of the commits before the moment's."""
        had = self.later | {line.content for line in self.real.values()}
        rows: list[tuple[str, DesiredLine | RealLine]] = [
            (f"desired-before/{environment}.tsv", line)
            for (environment, *_), line in self.named.items()
        ]
        for (environment, _), periods in self.desired.items():
            newest = {periods[number].content: number for number in sorted(periods)}
            numbers = {newest[content] for content in newest.keys() & had}
            # The period after it tells when it ended.
            numbers |= {min((n for n in periods if n > each), default=each) for each in numbers}
            rows += ((f"desired-before/{environment}.tsv", periods[each]) for each in numbers)
        ran = list(self._counted())
        rows += ((path, line) for path, line, _ in ran)
        first: Files = {FORMAT_FILE: f"{FORMAT}\n".encode(), **_written(rows)}
        second = _written(
            (path, line._replace(status="gone", since=until, reason=""))
            for path, line, until in ran
        )
        return [first, second] if second else [first]

    def _counted(self) -> Iterator[tuple[str, RealLine, datetime]]:
        """Yield the ended periods of what is wanted, of clusters that do not have it."""
        wanted: dict[tuple[str, str], list[DesiredLine]] = {}
        for environment, desired in (
            *((name, each[max(each)]) for (name, _), each in self.desired.items()),
            *self.found,
        ):
            wanted.setdefault((environment, desired.followed), []).append(desired)
        for (path, key, content), (line, until) in self.ended.items():
            now = self.real[path, key]
            has_it = now.content == content and now.status != "gone"
            # A period of no length belongs to what was wanted before it.
            counts = any(
                each.content == content and (each.since < until or each.since <= line.since)
                for each in wanted.get((_environment(path), line.target or _cluster_type(path)), ())
            )
            if content and counts and not has_it:
                yield path, line, until


def _written(rows: Iterable[tuple[str, DesiredLine | RealLine]]) -> Files:
    lines: dict[str, set[str]] = {}
    for path, row in rows:
        lines.setdefault(path, set()).add(line_of(row).removesuffix("\n"))
    return _files(lines, lines)


def _period(line: RealLine) -> tuple[str, str, datetime]:
    """Return what stays the same in a period."""
    return line.content, line.status, line.since


def _environment(path: str) -> str:
    """Return the part of a path that names the environment."""
    return path.split("/")[1].removesuffix(".tsv")


def _cluster_type(path: str) -> str:
    place = place_of(path)
    return place.cluster_type if place else ""
