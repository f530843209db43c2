"""The text of schedule's pull requests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from kalypso_actions.model.counts import counted
from kalypso_actions.model.differences import CommitRange, MaskedComparison
from kalypso_actions.model.layout import TRACKING_FOLDER
from kalypso_actions.model.tree import TreeChanges
from kalypso_actions.report import markdown
from kalypso_actions.report.arrivals import arrival_sections
from kalypso_actions.report.documents import CHANGES, LeftOutEntry, ProblemEntry
from kalypso_actions.report.markdown import COMMENT_ROOM, LEFT_OUT, CommitLink, MarkdownRoom
from kalypso_actions.report.pull_request_mark import Mark

SENTENCE: Final = "This PR updates the manifests in GitOps Repo"
"""Upstream's whole body."""

MOST_LINES: Final = 100
"""The most lines of one table or list, so that all of those fit; the changed files show everything.
"""

MOST_WARNINGS: Final = 30


@dataclass(frozen=True, slots=True)
class PullRequestText:
    """The facts of a pull request; `commit` is the one that it proposes.

    `control_plane` is `owner/name` of the environment's control plane.
    `main` is the commit of main that the tree is made from (None: the environment names none),
    `before` the one that the branch names now. `auto_merge` is the option by which schedule merges
    it. `allowed_by` says what allows a mass removal ("": nothing). `again` are the numbers of
    reverted or closed pull requests whose content this one proposes again. `others` are the
    numbers of other open pull requests that change the same files. `commits` are the commits of
    main and of registered repositories that come with it, `comparison` the differences.
    """

    control_plane: str
    environment: str
    commit: str
    assignments: int
    changes: TreeChanges
    folder: str
    main: CommitLink | None
    before: CommitLink | None
    promoted: bool
    auto_merge: str = ""
    allowed_by: str = ""
    left_out: Sequence[LeftOutEntry] = ()
    again: Sequence[int] = ()
    others: Sequence[int] = ()
    warnings: Sequence[ProblemEntry] = ()
    commits: Sequence[CommitRange] = ()
    comparison: MaskedComparison | None = None


def title(base: str, branch: str) -> str:
    """Upstream's title."""
    return f"Update manifests in {base} from {branch}"


def body(text: PullRequestText) -> str:
    """Return the whole text, with the important parts first, as far as there is room."""
    groups = _groups(text.changes, text.folder)
    mark = Mark(text.environment, text.commit, text.auto_merge, control_plane=text.control_plane)
    room = MarkdownRoom(COMMENT_ROOM - LEFT_OUT)
    for part in (
        f"{mark}\n{SENTENCE}",
        _headline(text, groups),
        _promotion(text),
        _overview(groups),
        *_attention(text),
        *arrival_sections(text.commits, text.comparison),
        *(_details(name, group) for name, group in groups.items() if name),
    ):
        room.add(part)
    if room.left_out:
        sections = counted(room.left_out, "more section")
        room.blocks.append(f"_{sections} do not fit here; the changed files show everything._")
    return "\n\n".join(room.blocks)


@dataclass(slots=True)
class _Group:
    """The changed files of one cluster type, by target; "" holds its README.md and loose files."""

    targets: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)


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
            group = groups.setdefault(cluster_type, _Group())
            files = group.targets.setdefault(target if slash else "", {})
            files.setdefault(change, []).append(name if slash else rest)
            group.counts[change] += 1
    return dict(sorted(groups.items()))


def _headline(text: PullRequestText, groups: Mapping[str, _Group]) -> str:
    counts = sum((group.counts for group in groups.values()), Counter[str]())
    words = ", ".join(f"{counts[change]} {change}" for change in CHANGES)
    return (
        f"Environment {markdown.code(text.environment)}, "
        f"{counted(text.assignments, 'assignment')}. Manifests: **{words}**."
    )


def _promotion(text: PullRequestText) -> str:
    if text.main is None:
        return "The environment names no commit of main: none is promoted."
    if not text.promoted:
        return f"It promotes nothing: main stays at {text.main}."
    if text.before is None or text.before.commit == text.main.commit:
        return f"It **promotes** {text.main} of main."
    return f"It **promotes** {text.main} of main, after {text.before}."


def _overview(groups: Mapping[str, _Group]) -> str:
    if not groups:
        return "No manifest changes."
    rows = [
        [
            markdown.code(name),
            str(len([target for target in group.targets if target])),
            *(str(group.counts[change]) for change in CHANGES),
        ]
        for name, group in islice(groups.items(), MOST_LINES)
    ]
    more = len(groups) - MOST_LINES
    head = ("Cluster type", "Targets", *(change.capitalize() for change in CHANGES))
    table = markdown.table(head, rows)
    return f"{table}\n\n… and {counted(more, 'more cluster type')}" if more > 0 else table


def _attention(text: PullRequestText) -> Iterator[str]:
    """Yield facts that reviewers may not expect."""
    changes = text.changes
    if text.allowed_by:
        yield (
            f"**{len(changes.removed_folders)} of {changes.existing_folders} assignments are "
            f"removed.** {markdown.text(text.allowed_by)} allows it."
        )
    if text.again:
        numbers = ", ".join(f"#{number}" for number in text.again)
        yield f"**It contains again what people took out:** {numbers}. Merge it only if wanted."
    if text.others:
        numbers = ", ".join(f"#{number}" for number in text.others)
        yield f"**Other open pull requests change the same files:** {numbers}. Merge one of them."
    if changes.foreign_deleted:
        title = "These files are not Kalypso's, and are deleted with the folders of their targets"
        yield _section(title, map(markdown.code, changes.foreign_deleted))
    if text.left_out:
        lines = (f"{markdown.code(item.registration)} {item.text}" for item in text.left_out)
        yield _section("These registrations are left out", lines)
    if changes.preserved_folders:
        title = "These folders stay unchanged, as their content is unknown"
        yield _section(title, map(markdown.code, changes.preserved_folders))
    if text.warnings:
        listed = (entry.finding("warning") for entry in text.warnings)
        yield markdown.findings(listed, MOST_WARNINGS)


def _section(title: str, lines: Iterable[str]) -> str:
    return "\n".join([f"**{title}:**", "", *_list_items(list(lines))])


def _list_items(lines: Sequence[str]) -> list[str]:
    return [f"- {line}" for line in markdown.some(lines, MOST_LINES)]


def _details(name: str, group: _Group) -> str:
    rows = []
    for target, files in sorted(group.targets.items()):
        changes = "; ".join(f"{change}: {_names(names)}" for change, names in files.items())
        rows.append(f"{markdown.code(target) if target else 'the cluster type'} — {changes}")
    counts = ", ".join(
        f"{group.counts[change]} {change}" for change in CHANGES if group.counts[change]
    )
    summary = f"<code>{markdown.html_text(name)}</code>: {counts}"
    return markdown.details(summary, "\n".join(_list_items(rows)))


def _names(names: Sequence[str]) -> str:
    return ", ".join(map(markdown.code, markdown.some(names, 20)))
