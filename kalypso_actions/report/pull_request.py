"""A pull request of ours: what it changes, and what whoever merges it must know."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from kalypso_actions.model.counts import counted
from kalypso_actions.model.layout import TRACKING_FOLDER
from kalypso_actions.model.tree import RegistrationReading, TreeChanges
from kalypso_actions.report import markdown
from kalypso_actions.report.documents import ProblemEntry

SENTENCE: Final = "This PR updates the manifests in GitOps Repo"
"""Upstream's whole body."""

MARK: Final = re.compile(
    r"<!-- kalypso:v1 kind=pull-request environment=(?P<environment>\S+) commit=(?P<commit>\S*)"
    r"(?: auto-merge=(?P<auto_merge>[a-z-]+))?(?: tried=(?P<tried>[0-9a-f]+/[a-z_]*))? -->"
)

MOST_LINES: Final = 200
"""Of one table or list; the files themselves say everything."""

CHANGES: Final = ("added", "changed", "deleted")


@dataclass(frozen=True, slots=True)
class CommitLink:
    """A commit of main, and its page ("" where it has none)."""

    commit: str
    url: str

    def __str__(self) -> str:
        """Its short id, linked, as Markdown."""
        if not self.url:
            return markdown.code(self.commit[:7])
        return markdown.link(self.commit[:7], self.url)


@dataclass(frozen=True, slots=True)
class PullRequestText:
    """What a pull request says; `commit` is the one that it proposes.

    `main` is what the tree is made of (None: the environment names no commit), `before` what the
    branch names now. `auto_merge` is the option by which schedule merges it. `allowed_by` let a
    mass removal pass ("" without one). `again` are the numbers of pull requests whose content
    people took out, and this one contains again. `others` are the numbers of other open pull
    requests that change files of ours.
    """

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
    registrations: Sequence[RegistrationReading] = ()
    again: Sequence[int] = ()
    others: Sequence[int] = ()
    warnings: Sequence[ProblemEntry] = ()


def title(base: str, branch: str) -> str:
    """Upstream's title."""
    return f"Update manifests in {base} from {branch}"


@dataclass(frozen=True, slots=True)
class Mark:
    """The first line of a pull request's body, which says what commit the rest describes.

    `auto_merge` is the option by which schedule merges this pull request ("": people do).
    `tried` is where the last merge was refused: the base branch's head, and GitHub's
    `mergeable_state` before it ("" for none).
    """

    environment: str
    commit: str
    auto_merge: str = ""
    tried: tuple[str, str] | None = None

    def __str__(self) -> str:
        """The line."""
        tried = {"tried": "/".join(self.tried)} if self.tried else {}
        auto_merge = {"auto-merge": self.auto_merge} if self.auto_merge else {}
        return markdown.marker(
            "pull-request", self.environment, commit=self.commit, **auto_merge, **tried
        )


def read_mark(body: str) -> Mark | None:
    """The mark of a body that we have written; None for any other body."""
    found = MARK.fullmatch(body.partition("\n")[0].strip())
    if found is None:
        return None
    base, slash, state = (found["tried"] or "").partition("/")
    return Mark(
        found["environment"],
        found["commit"],
        found["auto_merge"] or "",
        (base, state) if slash else None,
    )


def marked(body: str, mark: Mark) -> str:
    """The same body with another mark as its first line."""
    _, newline, rest = body.partition("\n")
    return f"{mark}{newline}{rest}"


def is_ours(body: str, environment: str) -> bool:
    """Whether we have written a body, for this environment."""
    mark = read_mark(body)
    return mark is not None and mark.environment == environment


def body(text: PullRequestText) -> str:
    """The whole text; what counts comes first, in case that it is cut."""
    groups = _groups(text.changes, text.folder)
    parts = [
        f"{Mark(text.environment, text.commit, text.auto_merge)}\n{SENTENCE}",
        _headline(text, groups),
        _promotion(text),
        _overview(groups),
        *_attention(text),
        *(_details(name, group) for name, group in groups.items() if name),
    ]
    return "\n\n".join(filter(None, parts))


@dataclass(slots=True)
class _Group:
    """The changed files of one cluster type, by target; "" holds its README.md and loose files."""

    targets: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)


def _groups(changes: TreeChanges, folder: str) -> Mapping[str, _Group]:
    """By cluster type; what tracks the promotion is none."""
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
        return f"It does not promote anything: main stays at {text.main}."
    if text.before is None or text.before.commit == text.main.commit:
        return f"It **promotes** {text.main} of main."
    return f"It **promotes** {text.main} of main; until now it was {text.before}."


def _overview(groups: Mapping[str, _Group]) -> str:
    if not groups:
        return "No manifest changes."
    rows = [
        [
            markdown.code(name),
            str(len([target for target in group.targets if target])),
            *(str(group.counts[change]) for change in CHANGES),
        ]
        for name, group in groups.items()
    ]
    head = ("Cluster type", "Targets", *(change.capitalize() for change in CHANGES))
    return markdown.table(head, rows)


def _attention(text: PullRequestText) -> Iterator[str]:
    """What a reviewer might not expect."""
    changes = text.changes
    if text.allowed_by:
        yield (
            f"**{len(changes.removed_folders)} of {changes.existing_folders} assignments go.** "
            f"{markdown.text(text.allowed_by)} has allowed it."
        )
    if text.again:
        numbers = ", ".join(f"#{number}" for number in text.again)
        yield f"**It contains again what people took out:** {numbers}. Merge it only if wanted."
    if text.others:
        numbers = ", ".join(f"#{number}" for number in text.others)
        yield f"**Other open pull requests change the same files:** {numbers}. Merge one of them."
    if changes.foreign_deleted:
        title = "These files are not ours, and go with the folders of their targets"
        yield _section(title, map(markdown.code, changes.foreign_deleted))
    unusable = [one for one in text.registrations if one.state != "head"]
    if unusable:
        yield _section("These registrations cannot be used as they are", map(_unusable, unusable))
    if changes.preserved_folders:
        title = "These folders stay as they are: what belongs into them is not known"
        yield _section(title, map(markdown.code, changes.preserved_folders))
    if text.warnings:
        yield markdown.findings(text.warnings[:MOST_LINES], ())


def _unusable(reading: RegistrationReading) -> str:
    name = markdown.code(reading.registration.name)
    if reading.state == "last-good" and reading.revision and reading.revision.commit:
        commit = markdown.code(reading.revision.commit[:7])
        return f"{name}: its last good commit {commit} is used"
    return f"{name}: its targets are kept"


def _section(title: str, lines: Iterable[str]) -> str:
    return "\n".join([f"**{title}:**", "", *_listed(list(lines))])


def _listed(lines: Sequence[str]) -> list[str]:
    return [f"- {line}" for line in markdown.some(lines, MOST_LINES)]


def _details(name: str, group: _Group) -> str:
    rows = []
    for target, files in sorted(group.targets.items()):
        said = "; ".join(f"{change}: {_names(names)}" for change, names in files.items())
        rows.append(f"{markdown.code(target) if target else 'the cluster type'} — {said}")
    counts = ", ".join(f"{group.counts[one]} {one}" for one in CHANGES if group.counts[one])
    summary = f"<code>{markdown.html_text(name)}</code>: {counts}"
    return markdown.details(summary, "\n".join(_listed(rows)))


def _names(names: Sequence[str]) -> str:
    return ", ".join(map(markdown.code, markdown.some(names, 20)))
