"""The titles of pull requests and merges: the meaning of a change for people, in words.

    meaning = ChangeMeaning("promotion", "dev", commit, "Register web", more=22)
    meaning.title == 'dev: promote 9c20a84 "Register web" (+22)'

`status`, summaries and reports take the same words from here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from kalypso_actions.model.counts import counted

ChangeKind = Literal[
    "promotion", "rollback", "continuation", "configuration", "application", "revert", "unknown"
]
"""The kind of a change of a GitOps branch.

promotion      the branch comes to name a later commit of main
rollback       the branch comes to name an earlier commit of main
continuation   a correction: the branch names the commit already, which is not deployed yet
configuration  the files of the environment's branch changed, or people changed the manifests;
               besides, registered repositories may have changed
application    only registered repositories changed
revert         people took a promotion back: nothing is promoted
unknown        check-promote finds out
"""

FIXED: Final = {
    "revert": "revert that promotes nothing",
    "unknown": "what check-promote finds out",
}

TitleStyle = Literal["meaning", "upstream"]

LONGEST: Final = 200
"""The most characters of a title."""

MOST_NAMES: Final = 3
"""The most names of applications, or of next environments, in a title."""


@dataclass(frozen=True, slots=True)
class ChangeMeaning:
    """What a change of an environment's GitOps branch means.

    `commit` is the commit of main that the branch names after the change ("": none), `subject` the
    untrusted first line of its message ("": unknown, or secret), and `more` the number of other
    commits of main that come with it. `next_environments` follow after this environment; None: the
    annotations do not say. `files` is the number of changed manifests, `applications` are the
    registrations that changed. `clusters` is the number of clusters that follow the branch (0: not
    known), `cluster_types` the number of their types. `guards` say when the policies of next
    environments let the commit in, by their names. `failure` is what a correction corrects.
    """

    kind: ChangeKind
    environment: str
    commit: str = ""
    subject: str = ""
    more: int = 0
    next_environments: Sequence[str] | None = None
    files: int = 0
    applications: Sequence[str] = ()
    clusters: int = 0
    cluster_types: int = 0
    guards: Mapping[str, str] = field(default_factory=dict)
    failure: str = ""

    def with_commits(
        self, subject: str, ahead: int | None = None, behind: int = 0
    ) -> ChangeMeaning:
        """Return the meaning of a promotion whose commits of main are known.

        `ahead` (None: unknown) and `behind` count the commits that the new commit of main has and
        the former one lacks, and vice versa.
        """
        if self.kind != "promotion":
            return self
        if behind and not ahead:
            return replace(self, kind="rollback")
        return replace(self, subject=subject, more=max((ahead or 1) - 1, 0))

    @property
    def goes_on(self) -> bool:
        """Whether the commit of main goes on to other environments."""
        return self.kind in {"promotion", "continuation"}

    @property
    def title(self) -> str:
        """The title, of at most `LONGEST` characters."""
        return shortened(f"{self.environment}: {self._words(LONGEST - len(self.environment) - 2)}")

    @property
    def words(self) -> str:
        """The title without the environment."""
        return self._words(LONGEST)

    def _words(self, room: int) -> str:
        match self.kind:
            case "promotion":
                head, more = f"promote {self.commit[:7]}", f" (+{self.more})" if self.more else ""
                room -= len(head) + len(more) + len(' ""')
                subject = shortened(harmless(self.subject).replace('"', "'"), room)
                return f'{head} "{subject}"{more}' if subject else f"{head}{more}"
            case "rollback":
                return f"roll back to {self.commit[:7]}"
            case "continuation":
                names = _listed(self.next_environments or ())
                return f"correct {self.commit[:7]}" + (f", then {names}" if names else "")
            case "application":
                return f"{self.applications_changed} changed"
            case "configuration":
                files = f" ({counted(self.files, 'file')})" if self.files else ""
                more = f" and {self.applications_changed}" if self.applications else ""
                return f"configuration{more}{files}"
            case "revert" | "unknown":
                return FIXED[self.kind]

    @property
    def applications_changed(self) -> str:
        """The changed registrations, with their noun."""
        noun = "application" if len(self.applications) == 1 else "applications"
        return f"{noun} {harmless(_listed(self.applications))}"

    @property
    def after_merge(self) -> str:
        """The sentence about what happens after the merge."""
        return f"After the merge, {self._followers}; {self._onward}."

    @property
    def _followers(self) -> str:
        if not self.cluster_types:
            return "no cluster has anything to run here"
        number = self.clusters or self.cluster_types
        verb = "follows" if self.clusters == 1 else "follow"
        whose = "" if self.clusters else "the clusters of "
        noun = "cluster" if self.clusters else "cluster type"
        return f"{whose}{counted(number, noun)} {verb} this branch to the new tree"

    @property
    def _onward(self) -> str:
        if not self.goes_on:
            return "nothing goes on to another environment"
        if self.next_environments is None:
            return "then the environment that NEXT_ENVIRONMENT names, if any"
        if not self.next_environments:
            return f"{self.environment} is the last environment"
        comply = "when they comply, then" if self.cluster_types else "then"
        names = [*self.next_environments[:MOST_NAMES]]
        guarded = [f"{name} {self.guards[name]}" for name in names if name in self.guards]
        free = [name for name in self.next_environments if name not in self.guards]
        return f"{comply} {', and '.join(filter(None, (_listed(free), *guarded)))}"


def _listed(names: Sequence[str]) -> str:
    """Return names in a sentence; the number of those beyond `MOST_NAMES`."""
    shown = [*names[:MOST_NAMES]]
    if len(names) > MOST_NAMES:
        shown.append(f"{len(names) - MOST_NAMES} more")
    return " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))


def shortened(text: str, most: int = LONGEST) -> str:
    """Cut a text to at most this number of characters, with "…" for the rest."""
    return text if len(text) <= most else f"{text[: max(most - 1, 0)].rstrip()}…"


OF_MERGE: Final = re.compile(r"Merge pull request #\d+ from \S+\s+(?=\S)")
"""The beginning of the message that GitHub makes; the title of the pull request follows it."""


def subject_of(message: str) -> str:
    """Return the untrusted subject of a commit, for the merge of a pull request its title."""
    merge = OF_MERGE.match(message)
    return message[merge.end() if merge else 0 :].partition("\n")[0]


BRACKETS: Final = str.maketrans("[]", "()")
"""GitHub, and other services, start no workflow for a message with `[skip ci]` and the like."""

HARMFUL: Final = (
    # Azure Pipelines: `***NO_CI***`.
    (re.compile(r"\*{3,}"), ""),
    # The trailer `skip-checks: true`, and the words of Azure Pipelines.
    (re.compile(r"(skip-checks)\s*:+", re.IGNORECASE), r"\1 "),
    # GitHub links a URL of an issue, and notes there that it was mentioned.
    (re.compile(r"https?:/+|www\.", re.IGNORECASE), ""),
    # `#12`, `owner/repo#12` and `GH-12` do the same, and close the issue after `fixes`.
    (re.compile(r"(?<=\w)#+(?=\d)"), " no. "),
    (re.compile(r"#+(?=\d)"), "no. "),
    (re.compile(r"(GH)-+(?=\d)", re.IGNORECASE), r"\1 "),
    # `@name` notifies a person, `owner/repo@commit` links a commit.
    (re.compile(r"(?<=\w)@+(?=\w)"), " at "),
    (re.compile(r"@+(?=\w)"), ""),
)
"""Patterns in untrusted text, and what replaces them.

https://docs.github.com/actions/how-tos/manage-workflow-runs/skip-workflow-runs
https://docs.github.com/get-started/writing-on-github/working-with-advanced-formatting/autolinked-references-and-urls
"""


def harmless(text: str) -> str:
    """Return untrusted text for a title or the message of a commit, on one line.

    The result has no control character, starts no command of GitHub, and mentions nobody and no
    issue.
    """
    line = "".join(
        " " if unicodedata.category(character)[0] in "CZ" else character for character in text
    )
    line = line.translate(BRACKETS)
    while True:
        cleaned = line
        for pattern, replacement in HARMFUL:
            cleaned = pattern.sub(replacement, cleaned)
        cleaned = " ".join(cleaned.split())
        if cleaned == line:  # a replacement may have joined the parts of another pattern
            return cleaned
        line = cleaned
