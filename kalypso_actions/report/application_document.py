"""The JSON outputs of an application's chain, its step summaries, and its pull requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

from pydantic import Field

from kalypso_actions.model.change_titles import ChangeMeaning, TitleStyle
from kalypso_actions.model.tree import TreeChanges
from kalypso_actions.report import markdown
from kalypso_actions.report.chain_document import ChainDocument, PollDocument
from kalypso_actions.report.check_promote_document import (
    HEADINGS,
    CheckPromoteDocument,
    cluster_tables,
    foreign_paths_line,
    verdict_advice,
)
from kalypso_actions.report.documents import CHANGES, ProblemEntry
from kalypso_actions.report.markdown import COMMENT_ROOM, LEFT_OUT, CommitLink, MarkdownRoom
from kalypso_actions.report.preview_document import PreviewDocument
from kalypso_actions.report.pull_request import SKIP, Mark

TEXTS: Final = "application.md.j2"

MOST_TARGETS: Final = 100
MOST_IMAGES: Final = 50
MOST_WARNINGS: Final = 30


class AppCiDocument(ChainDocument):
    """The output of `kalypso app ci --output json`; `environments` are those of the starts."""

    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "environments": "The environments for which deploy was started (JSON).",
    }

    schema_name: str = Field("kalypso.app-ci/v1", alias="schema")
    commit: str = ""
    version: str = ""
    image_tag: str = ""
    environments: tuple[str, ...] = ()


def app_ci_summary(document: AppCiDocument, source_url: str, started: Mapping[str, str]) -> str:
    """Return the step summary; `started` are the pages of deploy's runs by environment."""
    return markdown.render(TEXTS, "ci", **locals())


MEANINGS: Final[Mapping[str, str]] = {
    "promotion": "{version} is merged to {environment}",
    "continuation": "{version} is merged to {environment}",
    "configuration": "the configuration of {environment} changed",
    "rollback": "{environment} went back to {version}",
    "edited": "{environment} has {version} with changes by others",
    "manual": "people changed {environment}",
    "by hand": "{environment} names a commit that Kalypso did not propose",
}


class AppCheckDocument(CheckPromoteDocument):
    """The output of `kalypso app check --output json`.

    `meaning` says what the head of the GitOps branch is. Only with `promoted`, the commit goes on.
    """

    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "verdict": CheckPromoteDocument.OUTPUTS["verdict"],
        "clusters": CheckPromoteDocument.OUTPUTS["clusters"],
        "promoted": "true if the merge is a promotion, which goes on when the clusters comply.",
        "promoted-to": "The environments where deploy was started (JSON).",
    }

    schema_name: str = Field("kalypso.app-check/v1", alias="schema")
    version: str = ""
    meaning: str = ""
    promoted: bool = False


def app_check_summary(
    document: AppCheckDocument,
    source_url: str,
    gitops_url: str,
    advice: str,
    hook: str,
    started: Mapping[str, str],
) -> str:
    """Return the step summary.

    `advice` is for people if no cluster reports, `hook` the output of the post-deployment command
    as Markdown. `started` are the pages of started runs by environment.
    """
    words = {
        "version": document.version or document.promoted_commit[:7] or "no commit",
        "environment": document.environment,
    }
    headline = MEANINGS[document.meaning].format(**words)
    verdict_text = HEADINGS[document.verdict].format(environment=document.environment)
    advice = verdict_advice(document.verdict, advice)
    clusters = cluster_tables(document.rows, document.missing)
    foreign = foreign_paths_line(document.not_ours)
    return markdown.render(TEXTS, "check", **locals())


DeployAction = Literal[
    "none",
    "withdraw",
    "create",
    "update",
    "leave",
    "stop",
    "wait",
    "refused",
    "nothing",
    "rendered",
    "scanned",
    "",
]

HEADLINES: Final[Mapping[str, str]] = {
    "none": "{environment} has {version} already",
    "withdraw": "{environment} has {version} already; the proposal is withdrawn",
    "create": "{version} is proposed to {environment}",
    "update": "{version} is proposed to {environment}",
    "leave": "{version} is proposed to {environment} already",
    "stop": "{version} is not proposed to {environment}",
    "wait": "{version} waits for {environment}",
    "refused": "{version} is refused for {environment}",
    "nothing": "{environment} has no commit to deploy",
    "rendered": "{version} is rendered for {environment}",
    "scanned": "the scan lets {version} into {environment}",
    "": "{environment} was not deployed",
}


class AppDeployDocument(ChainDocument):
    """The output of `kalypso app deploy --output json`.

    `commit` is the source commit that the environment should have. With `promoted`, another one
    than the present one comes; otherwise only its configuration changes.
    """

    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "changed": "true if the pull request was opened or changed.",
        "pull-request-number": "The number of the pull request.",
        "pull-request-url": "The page of the pull request.",
        "digest": "A hash of the tree.",
        "scan": "With mode render: true if the job of the scan must look at the tree.",
        "images": "The images of the manifests (JSON).",
    }

    schema_name: str = Field("kalypso.app-deploy/v1", alias="schema")
    environment: str = ""
    commit: str = ""
    version: str = ""
    promoted: bool = False
    action: DeployAction = ""
    reason: str = ""
    changed: bool = False
    digest: str = ""
    scan: bool = False
    targets: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    pull_request_number: int | None = None
    pull_request_url: str = ""

    @property
    def headline(self) -> str:
        """The result as a line of plain text."""
        words = {"version": self.version or "the commit", "environment": self.environment}
        headline = HEADLINES[self.action].format(**words)
        shows_reason = self.reason and self.action in {"stop", "refused", "wait"}
        return f"{headline}: {self.reason}" if shows_reason else headline


def app_deploy_summary(document: AppDeployDocument, source_url: str, hook: str = "") -> str:
    """Return the step summary; `hook` is the output of the scan as Markdown."""
    return markdown.render(TEXTS, "deploy", **locals())


@dataclass(frozen=True, slots=True)
class ApplicationProposal:
    """The facts of a pull request with an application's tree.

    `before` is the commit that the environment has, with its version, if another one comes. `again`
    are the numbers of closed pull requests with the same content.
    """

    source: str
    source_url: str
    configs_url: str
    environment: str
    version: str
    commit: str
    before: str
    version_before: str
    configs_commit: str
    meaning: ChangeMeaning
    title: TitleStyle
    changes: TreeChanges
    targets: Sequence[str]
    images: Sequence[str] = ()
    auto_merge: str = ""
    again: Sequence[int] = ()
    warnings: Sequence[ProblemEntry] = ()

    @property
    def commit_link(self) -> CommitLink | None:
        """The source commit with its page."""
        return CommitLink.on(self.source_url, self.commit)

    @property
    def configs_link(self) -> CommitLink | None:
        """The commit of the configs with its page."""
        return CommitLink.on(self.configs_url, self.configs_commit)

    @property
    def rows(self) -> list[tuple[str, list[int]]]:
        """The targets, and folders that are no targets any more, with their numbers of changes."""
        lists = (self.changes.added, self.changes.modified, self.changes.deleted)
        counts: dict[str, list[int]] = {target: [0] * len(CHANGES) for target in self.targets}
        for place, paths in enumerate(lists):
            for path in paths:
                if path.startswith("."):
                    continue
                of = [name for name in self.targets if path.startswith(f"{name}/")]
                folder = max(of, key=len, default=path.rpartition("/")[0])
                counts.setdefault(folder, [0] * len(CHANGES))[place] += 1
        return sorted(counts.items())


def application_body(text: ApplicationProposal, own_commit: str) -> str:
    """Return the whole text of a pull request whose branch is at `own_commit`."""
    mark = Mark(
        text.environment,
        own_commit,
        text.auto_merge,
        control_plane=text.source,
        means=f"{text.meaning.kind}-{text.title}",
    )
    content = markdown.render(
        TEXTS,
        "pull_request",
        text=text,
        mark=mark,
        room=MarkdownRoom(COMMENT_ROOM - LEFT_OUT),
        warnings=[entry.finding("warning") for entry in text.warnings],
        MOST_TARGETS=MOST_TARGETS,
        MOST_IMAGES=MOST_IMAGES,
        MOST_WARNINGS=MOST_WARNINGS,
    )
    # A setting of the repository may make the text the message of the merge.
    return SKIP.sub(r"(\1)", content).rstrip("\n")


class AppPreviewDocument(PreviewDocument):
    """The output of `kalypso app preview --output json`: that of `kalypso preview`.

    `branch` is that of the source or of the configs which gets the change.
    """


class AppNotifyDocument(ChainDocument):
    """The output of `kalypso app notify --output json`; `environment` is "" if nothing started."""

    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "environment": "The environment of the pushed branch; empty if nothing was started.",
        "run-url": "The page of the started run, if GitHub names it.",
    }

    schema_name: str = Field("kalypso.app-notify/v1", alias="schema")
    environment: str = ""
    workflow: str = ""
    run_url: str = ""
    reason: str = ""


def app_notify_summary(document: AppNotifyDocument) -> str:
    """Return the step summary."""
    return markdown.render(TEXTS, "notify", **locals())


class AppPollDocument(PollDocument):
    """The output of `kalypso app poll --output json`.

    `environments` are those where deploy was started, `started` all starts.
    """

    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "environments": "The environments where deploy was started (JSON)."
    }

    schema_name: str = Field("kalypso.app-poll/v1", alias="schema")
