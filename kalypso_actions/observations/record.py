"""The record `kalypso.record/v1`: sorted lines of text, with tabs between the fields.

kalypso.record                        the format
environments.tsv                      `RecordedEnvironment`
desired/<environment>.tsv             `DesiredLine`, what the environment should run now
desired-before/<environment>.tsv      `DesiredLine`, periods that ended before a look saw them
superseded/<environment>.tsv          `DesiredLine`, ended periods that clusters are still behind of
real/<environment>/<cluster type>.tsv `RealLine`, what each cluster runs
promotions/<environment>.tsv          `PromotionLine`, the newest commits of main
branches.tsv                          `BranchHead`, how far each branch has been read
observed.tsv                          `Observation`, the newest look at each environment

Times are in UTC to the second. A field is escaped as in JSON and has at most `LONGEST` characters;
a longer one ends in a digest of the whole, so that two long names stay apart.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, TypeVar, get_args, get_type_hints
from urllib.parse import quote, unquote

from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.model.urls import repository_key

FORMAT: Final = "kalypso.record/v1"
FORMAT_FILE: Final = "kalypso.record"

LONGEST: Final = 2304
"""Characters of a field: a URL may have 2,048, an id of Azure 600, a branch 250."""

LONGEST_REASON: Final = 200

DIGEST: Final = 16

NO_CLUSTER_TYPE: Final = "_"
"""The file of clusters that follow a repository without a cluster type; no type is called so."""

Status = Literal["success", "failure", "in_progress", "suspended", "unreachable", "gone"]
Standing = Literal["current", "behind", "off", "unknown"]
STATUSES: Final[tuple[Status, ...]] = get_args(Status)


class RecordedEnvironment(NamedTuple):
    """An environment, its place in the chain from 0, and its branch in the control plane."""

    name: str
    position: int
    repository: str
    branch: str


class TargetKey(NamedTuple):
    """What a target is: its name may change. `repository` is the key of its URL."""

    repository: str
    branch: str
    path: str

    def __str__(self) -> str:
        """Return the text of the field `target` of `RealLine`."""
        return f"{self.repository}@{self.branch}:{self.path}"


class DesiredLine(NamedTuple):
    """What a target should run since a time: the `content` that `commit` brought to its path.

    The folder of a cluster type in a GitOps branch of the platform has no workload; its name is the
    cluster type. `environment` is that of the target's descriptor, "" without one. `content` is ""
    where nothing is wanted. `number` counts the target's periods from 1: two of them may begin in
    one second. `edited`: the commit changes a platform's manifests, and merges no pull request of
    Kalypso.
    """

    workspace: str
    application: str
    workload: str
    name: str
    repository: str
    branch: str
    path: str
    environment: str
    version: str
    source_commit: str
    configuration_commit: str
    content: str
    commit: str
    since: datetime
    number: int = 0
    edited: bool = False

    @property
    def target(self) -> TargetKey:
        """The identity of the target in its environment."""
        return TargetKey(repository_key(self.repository), self.branch, self.path)

    @property
    def followed(self) -> str:
        """What lines of clusters name: the target, or the cluster type of a platform's folder."""
        return str(self.target) if self.workload else self.name


class RealLine(NamedTuple):
    """What a cluster runs of a target since a time, and how its content relates to the desired one.

    `target` is a `TargetKey` as text, "" for the platform's folder. `reported` is the time of the
    report that the line was written from.
    """

    cluster: str
    configuration: str
    target: str
    commit: str
    content: str
    status: Status
    relation: Standing
    since: datetime
    reported: datetime | None
    reason: str

    @property
    def key(self) -> tuple[str, str, str]:
        """The identity of the line in its file."""
        return self.cluster.lower(), self.configuration, self.target


class PromotionLine(NamedTuple):
    """A commit of main in an environment, and the newest state of its promotion.

    `state` is "" for a commit that no run has brought there; `at` and `description` are those of
    its status. `started_at`, `deployed_at` and `failed_at` are when the environment first took it
    up, when the clusters first complied, and when it first failed. `position` counts the commits
    of main's first-parent line: dates lie, their order does not.
    """

    commit: str
    state: str
    at: datetime | None
    description: str
    author: str
    subject: str
    pull_request: str
    proposed_at: datetime | None
    merged_at: datetime | None
    merged_by: str
    committed_at: datetime | None = None
    started_at: datetime | None = None
    deployed_at: datetime | None = None
    failed_at: datetime | None = None
    position: int = 0


class BranchHead(NamedTuple):
    """The head of a branch at the look that wrote the line."""

    repository: str
    branch: str
    head: str


class Observation(NamedTuple):
    """The newest look at an environment, and whether every source answered."""

    environment: str
    at: datetime
    complete: bool


Line = TypeVar(
    "Line", RecordedEnvironment, DesiredLine, RealLine, PromotionLine, BranchHead, Observation
)

Real = Mapping[tuple[str, str], tuple[RealLine, ...]]
"""The lines of each environment and cluster type."""


@dataclass(frozen=True, slots=True)
class ObservationRecord:
    """The record after a look. Mappings are by environment."""

    environments: tuple[RecordedEnvironment, ...] = ()
    desired: Mapping[str, tuple[DesiredLine, ...]] = field(default_factory=dict)
    desired_before: Mapping[str, tuple[DesiredLine, ...]] = field(default_factory=dict)
    superseded: Mapping[str, tuple[DesiredLine, ...]] = field(default_factory=dict)
    real: Real = field(default_factory=dict)
    promotions: Mapping[str, tuple[PromotionLine, ...]] = field(default_factory=dict)
    branches: tuple[BranchHead, ...] = ()
    observed: tuple[Observation, ...] = ()

    @classmethod
    def parse(cls, files: Mapping[str, bytes], repository: str = "") -> ObservationRecord:
        """Read the files of a commit of the record; no files: nothing was recorded yet.

        Raises KalypsoError with file and line for a line that does not parse, and for another
        format.
        """
        if not files:
            return cls()
        check_format(files, repository)
        tables = [
            (place, tuple(parse_lines(path, files[path], repository)))
            for path in sorted(files)
            if (place := place_of(path)) is not None
        ]

        def of(kind: str) -> dict[str, Any]:
            return {
                place.environment: lines for place, lines in tables if place.kind == kind and lines
            }

        def single(kind: str) -> tuple[Any, ...]:
            lines: tuple[Any, ...] = of(kind).get("", ())
            return lines

        return cls(
            environments=single("environments"),
            desired=of("desired"),
            desired_before=of("desired-before"),
            superseded=of("superseded"),
            real={
                (place.environment, place.cluster_type): lines
                for place, lines in tables
                if place.kind == "real" and lines
            },
            promotions=of("promotions"),
            branches=single("branches"),
            observed=single("observed"),
        )

    def files(self) -> dict[str, bytes]:
        """Return the files of the record; tables without lines have no file."""
        named: dict[str, Iterable[tuple[Any, ...]]] = {
            "environments.tsv": self.environments,
            "branches.tsv": self.branches,
            "observed.tsv": self.observed,
        }
        for folder, tables in (
            ("desired", self.desired),
            ("desired-before", self.desired_before),
            ("superseded", self.superseded),
            ("promotions", self.promotions),
        ):
            for environment, lines in tables.items():
                named[f"{folder}/{_file_name(environment)}.tsv"] = lines
        for (environment, cluster_type), real in self.real.items():
            folder = f"real/{_file_name(environment)}"
            named[f"{folder}/{_file_name(cluster_type or NO_CLUSTER_TYPE)}.tsv"] = real
        files = {path: "".join(sorted(map(line_of, lines))) for path, lines in named.items()}
        return {FORMAT_FILE: f"{FORMAT}\n".encode()} | {
            path: text.encode() for path, text in files.items() if text
        }

    def last_look(self, environment: str) -> Observation | None:
        """Return the newest look at an environment; None for none."""
        return next((look for look in self.observed if look.environment == environment), None)

    def head(self, repository: str, branch: str) -> str:
        """Return how far a branch has been read; "" if it has not been."""
        key = repository_key(repository)
        heads = (each.head for each in self.branches if _is_branch(each, key, branch))
        return next(heads, "")


def _is_branch(head: BranchHead, key: str, branch: str) -> bool:
    return head.branch == branch and repository_key(head.repository) == key


class Place(NamedTuple):
    """The table of a file, and the environment and cluster type that it is for."""

    kind: str
    environment: str = ""
    cluster_type: str = ""


ROWS: Final[Mapping[str, type[Any]]] = MappingProxyType(
    {
        "environments": RecordedEnvironment,
        "desired": DesiredLine,
        "desired-before": DesiredLine,
        "superseded": DesiredLine,
        "real": RealLine,
        "promotions": PromotionLine,
        "branches": BranchHead,
        "observed": Observation,
    }
)
_DEPTHS: Final = {"desired": 2, "desired-before": 2, "superseded": 2, "promotions": 2, "real": 3}


def place_of(path: str) -> Place | None:
    """Return the table of a file; None for a file that the format does not have."""
    if not path.endswith(".tsv"):
        return None
    kind, *names = path.removesuffix(".tsv").split("/")
    if kind not in ROWS or len(names) + 1 != _DEPTHS.get(kind, 1):
        return None
    named = [unquote(name, errors="surrogatepass") for name in names]
    if kind == "real" and named[1] == NO_CLUSTER_TYPE:
        named[1] = ""
    return Place(kind, *named)


def check_format(files: Mapping[str, bytes], repository: str = "") -> None:
    """Raise KalypsoError unless the files are a record of this format."""
    written = files.get(FORMAT_FILE, b"").decode("utf-8", "replace").strip()
    if written != FORMAT:
        raise KalypsoError(
            f"this is no record of the format {FORMAT}"
            + (f", but {written[:40]!r}" * bool(written)),
            Location(repository, FORMAT_FILE),
            "name another branch or folder in `record`, or use the release that wrote it",
        )


def parse_lines(path: str, content: bytes, repository: str = "") -> Iterator[Any]:
    """Yield the lines of a file. Raises KalypsoError for one that does not parse."""
    place = place_of(path)
    if place is None:
        return
    row = ROWS[place.kind]
    for number, text in enumerate(content.decode("utf-8", "replace").split("\n"), start=1):
        if text:
            try:
                yield parse_line(row, text)
            except ValueError as error:
                where = Location(repository, path, number)
                advice = "restore the file from the commit before, or remove the branch"
                raise KalypsoError(
                    f"this is no line of the record: {error}", where, advice
                ) from None


def parse_line(row: type[Line], text: str) -> Line:
    """Return the fields of a line. Raises ValueError."""
    fields: list[str] = text.split("\t")
    if len(fields) != len(row._fields):
        raise ValueError(f"it has {len(fields)} fields instead of {len(row._fields)}")
    values: list[Any] = [*map(_parse_text, fields)] if "\\" in text else [*fields]
    for place, parse in _PARSERS[row]:
        values[place] = parse(fields[place])
    return row._make(values)


def line_of(row: tuple[Any, ...]) -> str:
    """Return a line with its line break; equal rows give equal lines."""
    limits = [LONGEST] * len(row)
    if isinstance(row, RealLine):
        limits[-1] = LONGEST_REASON
    return "\t".join(map(_text, row, limits)) + "\n"


def time_text(time: datetime) -> str:
    """Return a time as in the record, such as 2026-03-01T12:00:00Z."""
    return f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _file_name(name: str) -> str:
    """Return a name as a part of a path; a name of dots alone would leave the folder."""
    quoted = quote(name, safe="", errors="surrogatepass")
    return quoted.replace(".", "%2E") if not quoted.strip(".") else quoted


_ESCAPES: Final = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_SPECIAL: Final = re.compile(r"[\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_ESCAPED: Final = re.compile(r"\\(?:u([0-9a-f]{4})|(.))")
_UNESCAPES: Final = {escape[1]: character for character, escape in _ESCAPES.items()}


def _text(value: object, limit: int) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case datetime():
            return time_text(value)
        case _:
            return _SPECIAL.sub(_escape, _bounded(str(value), limit))


def _bounded(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    if limit == LONGEST_REASON:
        return f"{text[: limit - 1]}…"
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST]
    return f"{text[: limit - DIGEST - 1]}…{digest}"


def _escape(match: re.Match[str]) -> str:
    return _ESCAPES.get(match[0]) or f"\\u{ord(match[0]):04x}"


def _unescape(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else _UNESCAPES.get(match[2], match[2])


def _parse_text(text: str) -> str:
    return _ESCAPED.sub(_unescape, text) if "\\" in text else text


@lru_cache(1024)
def _parse_time(text: str) -> datetime:
    if not text.endswith("Z"):
        raise ValueError(f"{text[:40]!r} is no time in UTC")
    return datetime.fromisoformat(text)


def _parse_time_or_none(text: str) -> datetime | None:
    return _parse_time(text) if text else None


def _parse_bool(text: str) -> bool:
    if text not in {"true", "false"}:
        raise ValueError(f"{text[:40]!r} is neither true nor false")
    return text == "true"


_PARSERS_OF_TYPE: Final[Mapping[Any, Any]] = {
    int: int,
    bool: _parse_bool,
    datetime: _parse_time,
    datetime | None: _parse_time_or_none,
}
_PARSERS: Final = {
    row: [
        (place, _PARSERS_OF_TYPE[hint])
        for place, hint in enumerate(get_type_hints(row).values())
        if hint in _PARSERS_OF_TYPE
    ]
    for row in ROWS.values()
}
"""How the fields are read that are no texts."""
