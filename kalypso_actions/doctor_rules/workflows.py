"""Workflow files: present, current, enabled."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import yaml

from kalypso_actions.doctor_rules.check import (
    SECRETS_PAGE,
    VARIABLES_PAGE,
    Check,
    file_page,
    ok,
    problem,
    warning,
    workflow_page,
)
from kalypso_actions.doctor_rules.repositories import NEXT_ENVIRONMENT
from kalypso_actions.errors import Finding
from kalypso_actions.inputs.chain import DEFAULT_CLUSTER_REPORTS, NAMES_OF_SOURCES
from kalypso_actions.model.counts import counted
from kalypso_actions.model.federated_credentials import MAX_CREDENTIALS
from kalypso_actions.model.github import SettingNames
from kalypso_actions.model.object_ids import is_commit_id
from kalypso_actions.model.workflow_files import (
    ACTIONS,
    FOLDER,
    USES_OURS,
    is_upstreams_other_file,
    origin_of_workflow,
)

USED: Final = re.compile(
    r"^\s*(?:-\s+)?uses:\s*['\"]?(?P<actions>[A-Za-z0-9_-]+/[A-Za-z0-9._-]+)"
    rf"(?:/actions/(?:{ACTIONS}))?@(?P<ref>[A-Za-z0-9][\w./-]*(?: # v[\w.-]+)?)",
    re.MULTILINE,
)
"""Finds the repository and the reference of Kalypso's actions, to fill in templates with them."""

OPTIONAL_WORKFLOWS: Final = frozenset(
    f"{FOLDER}{name}.yaml" for name in ("preview", "preview-comment", "report")
)
"""Workflows that the chain does not need: previews, and the page about the fleet."""

Templates = Callable[[str, str], Mapping[str, str]]
"""The repository of the actions and a reference → the workflow files of a branch, by path."""


@dataclass(frozen=True, slots=True)
class BranchWorkflows:
    """The files below `.github/workflows` of a branch: text by path.

    `documents` are the paths of the files that the workflows are for; () if they are unknown.
    """

    repository: str
    branch: str
    texts: Mapping[str, str]
    documents: Collection[str] = ()


def workflow_checks(
    files: BranchWorkflows,
    paths: Sequence[str],
    templates: Templates,
    states: Mapping[str, str],
    faults: Sequence[Finding] = (),
) -> Iterator[Check]:
    """Check the workflow files that a branch must have.

    Compare a file with our template, filled in with the actions that the file uses. `states` are
    GitHub's states of the workflows, by path, and `faults` break the chain: a file with faults is
    not compared.
    """
    place, branch = files.repository, files.branch
    current = 0
    faulty = {finding.where.path: finding for finding in faults if finding.where}
    for path in paths:
        text = files.texts.get(path)
        state = states.get(path, "")
        is_disabled = state.startswith("disabled")
        if text is None and f"{path.removesuffix('.yaml')}.yml" in faulty:
            continue
        if text is None:
            missing = warning if path in OPTIONAL_WORKFLOWS else problem
            yield missing(place, f"{path} is missing on {branch}", "kalypso init writes it")
            continue
        if is_disabled:
            yield problem(
                place, f"{path} is disabled ({state})", "enable the workflow", workflow_page(path)
            )
        difference = None if path in faulty else _difference(files, path, text, templates)
        if difference:
            yield difference
        elif not (is_disabled or path in faulty):
            current += 1
    yield from (Check.of_problem("problem", finding, place) for finding in faults)
    if current == len(paths):
        yield ok(place, f"workflows on {branch}: {counted(current, 'file')}, as in our templates")
    yield from _moving_references(files)
    templates_here = dict.fromkeys(paths, "")
    for path, text in files.texts.items():
        if path not in templates_here and is_upstreams_other_file(path, text, templates_here):
            yield warning(
                place,
                f"{path} on {branch} is a workflow file of upstream that is no longer used",
                "delete it, or let kalypso init --delete-upstream-workflows do it",
                file_page(branch, path),
            )


def _moving_references(files: BranchWorkflows) -> Iterator[Check]:
    """Warn of Kalypso's actions that are used by a tag or a branch, which can move."""
    used = {
        f"{reference['actions']}@{reference['ref']}"
        for text in files.texts.values()
        for reference in references_in(text)
        if not is_commit_id(reference["ref"].partition(" ")[0])
    }
    if used:
        yield warning(
            files.repository,
            f"workflows on {files.branch} use {', '.join(sorted(used))}: whoever can move that "
            "runs code with the secrets of the jobs",
            "kalypso init --update-workflows pins them to a commit, or --action …@COMMIT does",
        )


def copy_checks(
    default: BranchWorkflows, files: BranchWorkflows, paths: Iterable[str]
) -> Iterator[Check]:
    """Check that the default branch has the same workflow files as another branch.

    GitHub documents that any branch with an identical file will do, but it has also looked only at
    the default branch (DataDog/datadog-agent#49532).
    """
    for path in paths:
        text = files.texts.get(path)
        if text is not None and default.texts.get(path) != text:
            yield warning(
                files.repository,
                f"{path} on {files.branch} is not the same on {default.branch}: GitHub may refuse "
                "new branches with it, as the App has no permission for workflows",
                "copy it",
                file_page(default.branch, path),
            )


def _difference(files: BranchWorkflows, path: str, text: str, templates: Templates) -> Check | None:
    """Report a file that neither matches our template nor uses the options in its comments."""
    where = f"{path} on {files.branch}"
    page = file_page(files.branch, path)
    if not USES_OURS.search(text):
        upstream = origin_of_workflow(text, "") == "upstream"
        owner = "upstream's" if upstream else "somebody else's: it uses none of our actions"
        advice = "kalypso init replaces it" if upstream else "kalypso init --update-workflows"
        return problem(files.repository, f"{where} is {owner}", advice, page)
    for reference in references_in(text):
        template = templates(reference["actions"], reference["ref"])[path]
        if origin_of_workflow(text, template) == "current" or uses_only_options(text, template):
            return None
    return warning(
        files.repository,
        f"{where} differs from our template",
        "kalypso init --dry-run shows the difference; kalypso init --update-workflows takes ours",
        page,
    )


def used_actions(texts: Iterable[str]) -> set[str]:
    """Return the repositories (owner/name) of Kalypso's actions that the files use."""
    return {reference["actions"] for text in texts for reference in references_in(text)}


def references_in(text: str) -> Iterator[re.Match[str]]:
    """Yield where a workflow file uses our actions, as USED finds them."""
    matches = (USED.match(text, line.start()) for line in USES_OURS.finditer(text))
    return filter(None, matches)


def is_same_version(reference: str, other: str) -> bool:
    """Whether two references can be one version: v1, v1.2, and a commit with the comment v1.2."""
    commits = [each.partition(" # ")[0] for each in (reference, other)]
    tags = sorted((each.rpartition(" # ")[2] for each in (reference, other)), key=len)
    if commits[0] == commits[1] or all(map(is_commit_id, commits)):
        return commits[0] == commits[1]
    is_tag = re.fullmatch(r"v\d+(\.\d+)*", tags[0])
    return bool(is_tag and f"{tags[1]}.".startswith(f"{tags[0]}."))


def shown_reference(actions: str, reference: str) -> str:
    """Return a reference for people, with a short commit."""
    commit, blank, version = reference.partition(" # ")
    return f"{actions}@{commit[:7] if is_commit_id(commit) else commit}{blank and f' ({version})'}"


OFFERED: Final = re.compile(r"^\s*# ([a-z-]+): \S+( .*)?$", re.MULTILINE)
COMMENT: Final = re.compile(r"(^|\s)#.*")


@dataclass(frozen=True, slots=True)
class _Option:
    """The keys that an offered line replaces, and the lines that must or may come with it."""

    replaces: frozenset[str] = frozenset()
    adds: frozenset[str] = frozenset()
    may_add: frozenset[str] = frozenset()


CONTINUES: Final = re.compile(
    r"environment: >-\s+\$\{\{ inputs\.started_at == '' && inputs\.environment \|\|\s+"
    r"github\.triggering_actor != '[^']+\[bot\]' && inputs\.environment \|\| '' \}\}"
)
"""The environment of check-promote's job, except for a continued run that the App has started.

GitHub binds no environment for an empty name (Toloka/tolokaforge#646).
"""

OPTIONS: Final[Mapping[str, _Option]] = {
    "token": _Option(frozenset({"app-id", "app-private-key"})),
    "next-environment": _Option(frozenset({"next-environment"})),
    "azure-credentials": _Option(
        frozenset({"azure-client-id", "azure-tenant-id", "id-token", "permissions"}),
        may_add=frozenset({"permissions: {}"}),
    ),
    "app-id": _Option(),
    "app-private-key": _Option(),
    "commit-by": _Option(),
    "mode": _Option(adds=frozenset({"pull-requests: write"})),
    "pull-requests": _Option(frozenset({"app-id", "app-private-key"})),
    "statuses": _Option(),
}
"""The options, by the input or permission that templates offer in a comment."""


def uses_only_options(text: str, template: str) -> bool:
    """Whether a file differs from its template only in comments and offered options."""
    text = CONTINUES.sub("environment: ${{ inputs.environment }}", text)
    file_lines, template_lines = Counter(_code(text)), Counter(_code(template))
    offered = {
        COMMENT.sub("", match[0].strip(" #")).strip() for match in OFFERED.finditer(template)
    }
    added = set(file_lines - template_lines)
    removed = {_key(line) for line in template_lines - file_lines}
    chosen = {_key(line) for line in added & offered}
    if not chosen <= OPTIONS.keys():
        return False
    options = [OPTIONS[key] for key in chosen]
    required = {line for option in options for line in option.adds}
    allowed = offered | required | {line for option in options for line in option.may_add}
    replaced = {key for option in options for key in option.replaces}
    return required <= added <= allowed and removed <= replaced


def _code(text: str) -> Iterator[str]:
    """Yield the lines without comments and indentation; skip empty lines."""
    return filter(None, (COMMENT.sub("", line).strip() for line in text.splitlines()))


def _key(line: str) -> str:
    return line.partition(":")[0]


EXPRESSIONS: Final = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
NAME: Final = re.compile(r"\b(secrets|vars)(?:\.|\[\s*')([A-Za-z_][A-Za-z0-9_]*)", re.IGNORECASE)
"""`secrets.KEY` or `secrets['KEY']`; GitHub ignores case."""

ALWAYS_SET: Final = frozenset({"GITHUB_TOKEN"})
"""Secrets that GitHub sets itself."""

CLUSTER_REPORTS: Final = "KALYPSO_CLUSTER_REPORTS"

OPTIONAL_NAMES: Final = frozenset(
    {NEXT_ENVIRONMENT, "KALYPSO_RECORD", "KALYPSO_RECORD_PUBLIC", "KALYPSO_WEBHOOK"}
)
"""Annotations can replace this name; `repositories.promotion_checks` reports the result."""


@dataclass(frozen=True, slots=True)
class UsedNames:
    """Names that the jobs of a workflow use, inside and outside of GitHub environments.

    A name is `secrets.KEY` or `vars.KEY`.
    """

    in_environment: frozenset[str] = frozenset()
    elsewhere: frozenset[str] = frozenset()

    def __or__(self, other: UsedNames) -> UsedNames:
        """Merge the names of one file on two branches."""
        return UsedNames(
            self.in_environment | other.in_environment, self.elsewhere | other.elsewhere
        )


def names_in(text: str) -> Collection[str]:
    """Return the secrets and variables in a text, as GitHub knows them: `secrets.KEY`."""
    found = NAME.findall(text)
    return dict.fromkeys(f"{kind.lower()}.{name.upper()}" for kind, name in found)


def used_names(text: str) -> UsedNames:
    """Return the secrets and variables in the expressions of a workflow file.

    An expression with an alternative (`||`) requires no name. A file that is not YAML uses none,
    because GitHub does not run it.
    """
    try:
        document = yaml.load(text, yaml.BaseLoader)  # noqa: S506 (it makes only strings)
    except (yaml.YAMLError, RecursionError):
        document = None
    jobs = document.get("jobs") if isinstance(document, dict) else None
    in_environment: set[str] = set()
    elsewhere: set[str] = set()
    for job in jobs.values() if isinstance(jobs, dict) else ():
        has_environment = isinstance(job, dict) and job.get("environment")
        names = in_environment if has_environment else elsewhere
        for value in _strings(job):
            for expression in EXPRESSIONS.findall(value):
                if "||" not in expression:
                    names.update(names_in(expression))
    return UsedNames(frozenset(in_environment), frozenset(elsewhere))


def name_checks(
    place: str,
    used: Mapping[str, UsedNames],
    of_repository: SettingNames,
    of_environments: Mapping[str, SettingNames],
    *,
    not_reporting: Collection[str] = (),
    sources: Sequence[str] = (DEFAULT_CLUSTER_REPORTS,),
) -> Iterator[Check]:
    """Check that the secrets and variables of the workflow files `used` are set.

    A job in an environment also sees the names of that environment, so each environment must set
    the names that the repository lacks. `sources` are those of cluster reports, which need names;
    the environments `not_reporting` need none of these.
    """
    needed = {name: () if name in not_reporting else sources for name in of_environments}
    problems = [
        *_missing_everywhere(place, used, of_repository, sources),
        *_missing_in_environments(place, used, of_repository, of_environments, needed),
    ]
    wanted = {name for names in used.values() for name in names.elsewhere} | {
        name
        for names in used.values()
        for name in names.in_environment
        if _is_set(name, of_repository)
        or any(_is_required(name, needed[environment]) for environment in of_environments)
    }
    short_names = {name.partition(".")[2] for name in wanted} - OPTIONAL_NAMES
    if short_names and not problems:
        yield ok(place, f"secrets and variables are set: {', '.join(sorted(short_names))}")
    yield from problems
    is_used = any(f"vars.{CLUSTER_REPORTS}" in names.in_environment for names in used.values())
    visible = of_repository.variables.union(*(of.variables for of in of_environments.values()))
    if is_used and CLUSTER_REPORTS in visible and tuple(sources) == (DEFAULT_CLUSTER_REPORTS,):
        yield warning(
            place,
            f"{CLUSTER_REPORTS} is set, and doctor only asks {DEFAULT_CLUSTER_REPORTS}",
            "give --cluster-reports with the value of the variable",
            VARIABLES_PAGE,
        )
    if NEXT_ENVIRONMENT in of_repository.variables:
        yield problem(
            place,
            f"{NEXT_ENVIRONMENT} is a variable of the repository: every environment, even the "
            "last, has a next one",
            "delete it, and set it in the GitHub environments, or annotate the Environment objects",
            VARIABLES_PAGE,
        )


def _missing_everywhere(
    place: str,
    used: Mapping[str, UsedNames],
    of_repository: SettingNames,
    sources: Sequence[str],
) -> Iterator[Check]:
    users: dict[str, list[str]] = {}
    for file, names in used.items():
        for name in sorted(names.elsewhere):
            if _is_required(name, sources) and not _is_set(name, of_repository):
                users.setdefault(name, []).append(file)
    for name, files in users.items():
        yield _missing(place, name, f"for {', '.join(files)}", "for the repository or its owner")


def _missing_in_environments(
    place: str,
    used: Mapping[str, UsedNames],
    of_repository: SettingNames,
    of_environments: Mapping[str, SettingNames],
    needed: Mapping[str, Sequence[str]],
) -> Iterator[Check]:
    for file, names in used.items():
        for name in sorted(names.in_environment - names.elsewhere):
            lacking = [
                environment
                for environment, of_environment in of_environments.items()
                if _is_required(name, needed[environment])
                and not _is_set(name, of_repository)
                and not _is_set(name, of_environment)
            ]
            if lacking:
                listed = ", ".join(lacking)
                noun = "environment" if len(lacking) == 1 else "environments"
                where = f"for the repository, or for the GitHub {noun} {listed}"
                yield _missing(place, name, f"for {listed} in {file}", where)


def _is_required(name: str, sources: Sequence[str]) -> bool:
    """Whether the jobs of an environment with these sources of cluster reports need a name."""
    short = name.partition(".")[2]
    if short == CLUSTER_REPORTS:
        return tuple(sources) not in {(), (DEFAULT_CLUSTER_REPORTS,)}
    users = [source for source, names in NAMES_OF_SOURCES.items() if short in names]
    return short not in OPTIONAL_NAMES and (not users or not set(users).isdisjoint(sources))


def _missing(place: str, name: str, users: str, where: str) -> Check:
    """Report a missing name; only warn of names that are not ours, as the job may not need them."""
    kind, _, short = name.partition(".")
    noun = "secret" if kind == "secrets" else "variable"
    text = f"the {noun} {short} is not set ({users})"
    known = short.startswith(("KALYPSO_", "AZURE_")) or short.endswith("_TOKEN")
    page = SECRETS_PAGE if kind == "secrets" else VARIABLES_PAGE
    elsewhere = (
        f", or set {CLUSTER_REPORTS} if the clusters are not on Azure"
        if short in NAMES_OF_SOURCES[DEFAULT_CLUSTER_REPORTS]
        else ""
    )
    return (problem if known else warning)(place, text, f"set it {where}{elsewhere}", page)


def _is_set(name: str, names: SettingNames) -> bool:
    kind, _, short = name.partition(".")
    if kind == "secrets":
        return short in names.secrets or short in ALWAYS_SET
    return short in names.variables


def _strings(value: Any) -> Iterator[str]:
    """Yield every string in a document; what aliases repeat comes once."""
    seen: set[int] = set()
    left = [value]
    while left:
        each = left.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict | list) and id(each) not in seen:
            seen.add(id(each))
            left += each.values() if isinstance(each, dict) else each


def credential_checks(
    place: str,
    main: str,
    environments: Sequence[str],
    check_promote: str,
    prefixes: Sequence[str],
    *,
    observes: bool = False,
) -> Iterator[Check]:
    """Check the number of credentials of the repository's identity.

    `environments` are those that sign in with it, without an AZURE_CLIENT_ID of their own.
    `check_promote` is the text of the workflow file. `prefixes` are the possible prefixes of the
    subjects. There are two if GitHub may use either form, and each may need a credential.
    `observes`: main has observe.yaml, whose job has no GitHub environment.
    """
    continues = bool(CONTINUES.search(check_promote)) or observes
    if continues:
        subjects = " or ".join(f"{prefix}:ref:refs/heads/{main}" for prefix in prefixes)
        text = "continued runs of check-promote ask no reviewers, and have no GitHub environment"
        if observes:
            text = "the runs of observe ask no reviewers, and have no GitHub environment"
        yield ok(place, f"{text}: they sign in to Azure with a credential for {subjects}")
    needed = len(environments) + continues
    of_all_forms = needed * len(prefixes)
    capacity = MAX_CREDENTIALS // len(prefixes) - continues
    advice = (
        "create a second identity, and set AZURE_CLIENT_ID as a variable of the GitHub "
        f"environments that use it: {', '.join(environments[capacity:])}"
    )
    if needed > MAX_CREDENTIALS:
        text = (
            f"{needed} federated credentials are needed, but Azure accepts {MAX_CREDENTIALS} for "
            "each identity"
        )
        yield problem(place, text, advice, VARIABLES_PAGE)
    elif of_all_forms > MAX_CREDENTIALS:
        text = (
            f"{of_all_forms} federated credentials are needed for both forms of subjects, but "
            f"Azure accepts {MAX_CREDENTIALS} for each identity"
        )
        yield warning(place, text, f"keep one form, or {advice}", VARIABLES_PAGE)
