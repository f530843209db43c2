"""The text of schedule's pull requests; `model.change_titles` has their titles."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from zlib import crc32

from kalypso_actions.model.change_titles import ChangeMeaning, TitleStyle, harmless
from kalypso_actions.model.counts import counted
from kalypso_actions.model.differences import CommitRange, MaskedComparison
from kalypso_actions.model.layout import TRACKING_FOLDER
from kalypso_actions.model.tree import TreeChanges
from kalypso_actions.report import markdown
from kalypso_actions.report.comparison_entries import ComparisonEntry
from kalypso_actions.report.documents import CHANGES, LeftOutEntry, ProblemEntry
from kalypso_actions.report.markdown import (
    COMMENT_ROOM,
    LEFT_OUT,
    CommitLink,
    MarkdownRoom,
    code,
    some,
)
from kalypso_actions.report.preview_document import value_table

MOST_LINES: Final = 100
"""The most lines of one table or list, so that all of those fit; the changed files show everything.
"""

MOST_WARNINGS: Final = 30

MOST_NAMES: Final = 20
"""The most files that a line names."""

MOST_CHANGES: Final = 50
"""The most assignments and configuration values."""

LONGEST_SUBJECT: Final = 120
"""The most characters of a subject."""


SKIP: Final = re.compile(r"\[((?:skip|no)[ -]\w+|\w+[ -]skip)\]", re.IGNORECASE)
"""A command to start no workflow, as in a path: see `model.change_meaning`."""


LETTERS: Final = str.maketrans("0123456789", "ghijklmnop")
"""A mark has letters alone."""


@dataclass(frozen=True, slots=True)
class PullRequestText:
    """The facts of a pull request; `commit` is the one that it proposes.

    `control_plane` is `owner/name` of the environment's control plane.
    `main` is the commit of main that the tree is made from (None: the environment names none),
    `before` the one that the branch names now, `meaning` that of the merge. With the `title` of
    upstream, the text begins as upstream's. `auto_merge` is the option by which schedule merges
    it, and `waiting_for` what keeps it from that. `held_at` is the hold that keeps all commits but
    `main` out ("": none). `allowed_by` says what allows a mass removal ("": nothing). `again` are
    the numbers of reverted or closed pull requests whose content this one proposes again. `others`
    are the numbers of other open pull requests that change the same files. `commits` are the
    commits of main and of registered repositories that come with it, `comparison` the differences.
    """

    control_plane: str
    environment: str
    commit: str
    assignments: int
    changes: TreeChanges
    folder: str
    main: CommitLink | None
    before: CommitLink | None
    meaning: ChangeMeaning
    title: TitleStyle = "meaning"
    waiting_for: str = ""
    held_at: str = ""
    auto_merge: str = ""
    allowed_by: str = ""
    left_out: Sequence[LeftOutEntry] = ()
    again: Sequence[int] = ()
    others: Sequence[int] = ()
    warnings: Sequence[ProblemEntry] = ()
    commits: Sequence[CommitRange] = ()
    comparison: MaskedComparison | None = None


def means(meaning: ChangeMeaning, title: TitleStyle, waiting_for: str) -> str:
    """Return what a text says of its kind: a text that says something else is outdated."""
    return f"{meaning.kind}-{title}{_waiting(waiting_for)}"


_WAITING: Final = "-waiting-"


def _waiting(waiting_for: str) -> str:
    digest = f"{crc32(waiting_for.encode()):08x}".translate(LETTERS)
    return f"{_WAITING}{digest}" if waiting_for else ""


WAITING: Final = "Do not merge this yet. Kalypso merges nothing here while this holds:"


def with_waiting(body: str, waiting_for: str) -> str:
    """Return one of our bodies with what keeps people from merging it now ("": nothing).

    The rest stays. A body without our mark stays whole.
    """
    mark = read_mark(body)
    if mark is None:
        return body
    first, *others = re.split(r"\r?\n\r?\n", body)
    others = [each for each in others if not each.startswith(WAITING)]
    if waiting_for:
        others.insert(1, f"{WAITING} {markdown.text(waiting_for)}.")
    kind = mark.means.partition(_WAITING)[0]
    mark = replace(mark, means=kind and f"{kind}{_waiting(waiting_for)}")
    return marked("\n\n".join((first, *others)), mark)


def says_waiting(body: str) -> bool:
    """Whether one of our bodies says that people do not merge it yet."""
    mark = read_mark(body)
    return mark is not None and _WAITING in mark.means


def upstream_title(base: str, branch: str) -> str:
    """Return upstream's title of a pull request into `base`."""
    return f"Update manifests in {base} from {branch}"


def body(text: PullRequestText) -> str:
    """Return the whole text, with the important parts first, as far as there is room."""
    groups = _groups(text.changes, text.folder)
    counts = sum((group.counts for group in groups.values()), Counter[str]())
    withheld = text.comparison.withheld if text.comparison else ()
    unknown = [code(item.name) for item in text.commits if item.total is None]
    mark = Mark(
        text.environment,
        text.commit,
        text.auto_merge,
        control_plane=text.control_plane,
        means=means(text.meaning, text.title, text.waiting_for),
    )
    content = markdown.render(
        "pull_request.md.j2",
        text=text,
        changes=text.changes,
        room=MarkdownRoom(COMMENT_ROOM - LEFT_OUT),
        mark=mark,
        groups=groups,
        counts=", ".join(f"{counts[change]} {change}" for change in CHANGES),
        foreign=_lines(map(code, text.changes.foreign_deleted)),
        preserved=_lines(map(code, text.changes.preserved_folders)),
        left_out=_lines(f"{code(item.registration)} {item.text}" for item in text.left_out),
        warnings=[entry.finding("warning") for entry in text.warnings],
        unknown=", ".join(some(unknown, MOST_CHANGES)),
        of_main=[item for item in text.commits if text.main and item.head == text.main.commit],
        of_others=[
            item for item in text.commits if text.main is None or item.head != text.main.commit
        ],
        differences=_differences(text.comparison) if text.comparison else (),
        withheld=sum(item.values for item in withheld),
        moved=_moved,
        harmless=harmless,
        MOST_LINES=MOST_LINES,
        MOST_WARNINGS=MOST_WARNINGS,
        LONGEST_SUBJECT=LONGEST_SUBJECT,
        WAITING=WAITING,
    )
    # A setting of the repository may make the text the message of the merge.
    return SKIP.sub(r"(\1)", content).rstrip("\n")


def _lines(lines: Iterable[str], most: int = MOST_LINES) -> str:
    return "\n".join(f"- {line}" for line in some(list(lines), most))


def _moved(item: CommitRange) -> str:
    """Return where a repository moved: forward, back, or both."""
    total = item.total or 0
    if not item.behind:
        return counted(total, "commit")
    back = f"back by {counted(item.behind, 'commit')}"
    came = f"{counted(total, 'commit')} forward, " if total else ""
    return f"{came}{back}".capitalize()


def _differences(comparison: MaskedComparison) -> Iterator[tuple[str, str]]:
    """Yield titles and contents of the assignments and values that differ."""
    for word, names in (
        ("added", comparison.assignments_added),
        ("removed", comparison.assignments_removed),
    ):
        if names:
            lines = _lines((code(name.folder) for name in names), MOST_CHANGES)
            yield f"{counted(len(names), 'assignment')} {word}", lines
    entries = ComparisonEntry.of(comparison, {}).values
    if entries:
        more = len(entries) - MOST_CHANGES
        others = f"\n\n… and {counted(more, 'more value')}" if more > 0 else ""
        title = f"{counted(len(entries), 'configuration value')} changed"
        yield title, value_table(entries[:MOST_CHANGES]) + others


@dataclass(slots=True)
class _Group:
    """The changed files of one cluster type, by target; "" holds its README.md and loose files."""

    name: str
    targets: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def title(self) -> str:
        """The cluster type in HTML, with the numbers of changes that are not 0."""
        counts = (f"{self.counts[change]} {change}" for change in CHANGES if self.counts[change])
        return f"<code>{markdown.html_text(self.name)}</code>: {', '.join(counts)}"

    @property
    def lines(self) -> str:
        """A line for each target, with its files by change."""
        rows = []
        for target, files in sorted(self.targets.items()):
            changes = "; ".join(
                f"{change}: {', '.join(map(code, some(names, MOST_NAMES)))}"
                for change, names in files.items()
            )
            rows.append(f"{code(target) if target else 'the cluster type'} — {changes}")
        return _lines(rows)


def _groups(changes: TreeChanges, folder: str) -> Mapping[str, _Group]:
    """Group changed files by cluster type, without the files that track the promotion."""
    prefix = f"{folder}/" if folder else ""
    groups: dict[str, _Group] = {}
    for change, paths in zip(
        CHANGES, (changes.added, changes.modified, changes.deleted), strict=True
    ):
        for path in paths:
            place = path.removeprefix(prefix)
            if place.startswith(f"{TRACKING_FOLDER}/"):
                continue
            cluster_type, _, rest = place.partition("/")
            target, slash, name = rest.partition("/")
            group = groups.setdefault(cluster_type, _Group(cluster_type))
            files = group.targets.setdefault(target if slash else "", {})
            files.setdefault(change, []).append(name if slash else rest)
            group.counts[change] += 1
    return dict(sorted(groups.items()))


MARK: Final = re.compile(
    r"<!-- kalypso:v1 kind=pull-request environment=(?P<environment>\S+) commit=(?P<commit>\S*)"
    r"(?: auto-merge=(?P<auto_merge>[a-z-]+))?(?: tried=(?P<tried>[0-9a-f]+/[a-z_]*))?"
    r"(?: control-plane=(?P<control_plane>[\w.-]+/[\w.-]+))?(?: means=(?P<means>[a-z-]+))? -->"
)


@dataclass(frozen=True, slots=True)
class Mark:
    """The first line of a pull request's body, with the commit that the body describes.

    `auto_merge` is the option by which schedule merges this pull request ("": people merge it).
    `tried` describes the last refused merge: the base branch's head, and GitHub's
    `mergeable_state` before it ("" for none). `control_plane` is `owner/name` of the repository
    whose environment proposes it, and `means` the kind of the change with the style of the title
    ("": an earlier version of Kalypso wrote the line).
    """

    environment: str
    commit: str
    auto_merge: str = ""
    tried: tuple[str, str] | None = None
    control_plane: str = ""
    means: str = ""

    def __str__(self) -> str:
        """Format the line."""
        tried = {"tried": "/".join(self.tried)} if self.tried else {}
        auto_merge = {"auto-merge": self.auto_merge} if self.auto_merge else {}
        control_plane = {"control-plane": self.control_plane} if self.control_plane else {}
        means = {"means": self.means} if self.means else {}
        return markdown.marker(
            "pull-request",
            self.environment,
            commit=self.commit,
            **auto_merge,
            **tried,
            **control_plane,
            **means,
        )


def read_mark(body: str) -> Mark | None:
    """Read the mark of one of our bodies; None for any other body."""
    line = MARK.fullmatch(body.partition("\n")[0].strip())
    if line is None:
        return None
    base, slash, state = (line["tried"] or "").partition("/")
    return Mark(
        line["environment"],
        line["commit"],
        line["auto_merge"] or "",
        (base, state) if slash else None,
        line["control_plane"] or "",
        line["means"] or "",
    )


def marked(body: str, mark: Mark) -> str:
    """Replace the mark of a body."""
    _, newline, rest = body.partition("\n")
    return f"{mark}{newline}{rest}"


def is_ours(body: str, environment: str, control_plane: str) -> bool:
    """Return whether we wrote a body for this environment of a control plane (`owner/name`).

    Several control planes may write with one account. A body without a control plane may be ours.
    """
    mark = read_mark(body)
    return (
        mark is not None
        and mark.environment == environment
        and mark.control_plane.lower() in {"", control_plane.lower()}
    )
