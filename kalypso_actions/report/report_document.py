"""The output of `kalypso report`: report.json, and the page with the same data.

The page needs no network and works from a file. The data are compressed and in base64, so no name
in them can close the script element. The content security policy allows the page's own script and
style by their hashes, and nothing else.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import Field

from kalypso_actions.errors import Finding
from kalypso_actions.report.documents import (
    OutputDocument,
    PositionEntry,
    ProblemEntry,
    SourceEntry,
    Where,
)
from kalypso_actions.report.explain_document import DecisionEntry
from kalypso_actions.report.observed_document import ObservedDocument
from kalypso_actions.report.status_document import StatusDocument


class ConfiguredValueEntry(OutputDocument):
    """A value of the merged configuration, without secrets, and in order the places that set it."""

    key: str
    value: str
    origins: tuple[Where, ...]


class MergedChangeEntry(OutputDocument):
    """A commit of a GitOps branch; `url` is its page, "" without one."""

    commit: str
    subject: str
    author: str
    at: datetime
    url: str


class MergedTreeEntry(OutputDocument):
    """A GitOps branch of an environment, its head, and the page of its folder at that commit.

    `commit` and `page` are "" if they are unknown; `fault` says why.
    """

    repository: str
    branch: str
    folder: str
    commit: str = ""
    page: str = ""
    fault: str = ""


class ReportedAssignmentEntry(OutputDocument):
    """A target on a cluster type in an environment.

    `configuration` is the index of its values in `configurations`. `decisions` are the indexes of
    the decisions of the policies that select it, `changes` those of the last commits of the GitOps
    branches that changed its files, the newest first. `files` are the indexes of the texts by name,
    null in a report without texts. If there are no files, `failure` says why.
    """

    environment: str
    target: str
    workload: str
    workspace: str
    cluster_type: str
    namespace: str
    policies: tuple[str, ...]
    configuration: int
    decisions: tuple[int, ...]
    changes: tuple[int, ...]
    files: dict[str, int | None]
    failure: str = ""


class ReportedEnvironmentEntry(OutputDocument):
    """An environment: the commit of main that it has, the sources, and the findings."""

    environment: str
    main: PositionEntry | None
    scheduler: str = ""
    sources: tuple[SourceEntry, ...] = ()
    gitops: tuple[MergedTreeEntry, ...] = ()
    warnings: tuple[ProblemEntry, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()


class ReportDocument(OutputDocument):
    """report.json of `kalypso report`, which prints it without `texts` with `--output json`.

    `pipeline` is the state on GitHub; its problems say why it is unknown. `observed` is what the
    record says of the clusters' past, null without a record. `texts`,
    `configurations`, `decisions` and `changes` contain equal contents only once. `with_texts` is
    false for a fleet that is too large for the texts of its files, `with_configurations` for one
    whose different configurations have too many values. `warnings` and `problems` are those of the
    fleet as a whole; each environment has its own.
    """

    schema_name: str = Field("kalypso.report/v1", alias="schema")
    title: str = ""
    at: datetime | None = None
    environments: tuple[ReportedEnvironmentEntry, ...] = ()
    pipeline: StatusDocument = Field(default_factory=StatusDocument)
    observed: ObservedDocument | None = None
    with_texts: bool = True
    with_configurations: bool = True
    assignments: tuple[ReportedAssignmentEntry, ...] = ()
    configurations: tuple[tuple[ConfiguredValueEntry, ...], ...] = ()
    decisions: tuple[DecisionEntry, ...] = ()
    changes: tuple[MergedChangeEntry, ...] = ()
    texts: tuple[str, ...] = ()
    warnings: tuple[ProblemEntry, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()

    @property
    def every_finding(self) -> tuple[Finding, ...]:
        """The findings of the fleet, then those of each environment."""
        of_environments = (item for each in self.environments for item in each.findings)
        return (*self.findings, *of_environments)


@dataclass(frozen=True, slots=True)
class PageParts:
    """The texts of `page_parts`; in the body, TITLE and PIPELINE are the places of both."""

    style: str
    script: str
    body: str


def report_page(title: str, data: str, parts: PageParts, pipeline: str) -> str:
    """Return the page with a heading, the drawing of the pipeline, and the JSON of the report."""
    style, script = parts.style, parts.script
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    heading, _, rest = parts.body.partition("PIPELINE")
    # A timestamp in the compressed data would make equal reports differ.
    compressed = gzip.compress(data.encode("utf-8", "backslashreplace"), mtime=0)
    return "".join(
        (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            '<meta name="color-scheme" content="light dark">\n',
            f"<title>{html.escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n",
            heading.replace("TITLE", html.escape(title)),
            pipeline,
            rest,
            '<script type="application/octet-stream" id="data">',
            base64.b64encode(compressed).decode(),
            f"</script>\n<script>{script}</script>\n</body>\n</html>\n",
        )
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


class CheckPagesDocument(OutputDocument):
    """The output of `kalypso check-pages --output json`.

    `site_is_public` is null if GitHub does not say who may read the site. `repositories` are the
    control plane and all that the report shows, with their visibility (null: unknown).
    """

    schema_name: str = Field("kalypso.check-pages/v1", alias="schema")
    control_plane: str = ""
    site_is_public: bool | None = None
    repositories: dict[str, Literal["private", "internal", "public"] | None] = Field(
        default_factory=dict
    )
    problems: tuple[ProblemEntry, ...] = ()
