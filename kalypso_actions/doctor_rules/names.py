"""Secrets and variables: which a workflow uses, and which are not set."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import yaml

from kalypso_actions.doctor_rules.check import Check, ok, problem, warning
from kalypso_actions.doctor_rules.pages import SECRETS, VARIABLES
from kalypso_actions.model.github import SettingNames

EXPRESSION: Final = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
NAME: Final = re.compile(r"\b(secrets|vars)(?:\.|\[\s*')([A-Za-z_][A-Za-z0-9_]*)", re.IGNORECASE)
"""`secrets.KEY` or `secrets['KEY']`; case makes no difference to GitHub."""

ALWAYS: Final = frozenset({"GITHUB_TOKEN"})
"""Secrets that GitHub sets itself."""

OPTIONAL: Final = frozenset({"NEXT_ENVIRONMENT"})
"""What is looked at elsewhere: there are other ways to say it."""

OF_AZURE: Final = frozenset({"AZURE_CLIENT_ID", "AZURE_TENANT_ID", "AZURE_SCOPES"})


@dataclass(frozen=True, slots=True)
class UsedNames:
    """What the jobs of a workflow use: those in a GitHub environment, and those in none.

    A name is `secrets.KEY` or `vars.KEY`.
    """

    in_environment: frozenset[str] = frozenset()
    elsewhere: frozenset[str] = frozenset()

    def __or__(self, other: UsedNames) -> UsedNames:
        """What one of two files uses, or both: the same file of two branches."""
        return UsedNames(
            self.in_environment | other.in_environment, self.elsewhere | other.elsewhere
        )


def used_names(text: str) -> UsedNames:
    """The secrets and variables in the expressions of a workflow file; comments do not count.

    One that stands beside an alternative (`||`) need not be set. A file that is no YAML uses none:
    GitHub does not run it either.
    """
    try:
        document = yaml.load(text, yaml.BaseLoader)  # noqa: S506 (makes nothing but texts)
    except (yaml.YAMLError, RecursionError):
        document = None
    jobs = document.get("jobs") if isinstance(document, dict) else None
    inside: set[str] = set()
    outside: set[str] = set()
    for job in jobs.values() if isinstance(jobs, dict) else ():
        found = inside if isinstance(job, dict) and job.get("environment") else outside
        for value in _texts(job):
            for expression in EXPRESSION.findall(value):
                if "||" not in expression:
                    found |= {
                        f"{kind.lower()}.{name.upper()}" for kind, name in NAME.findall(expression)
                    }
    return UsedNames(frozenset(inside), frozenset(outside))


def name_checks(
    place: str,
    used: Mapping[str, UsedNames],
    of_repository: SettingNames,
    of_environments: Mapping[str, SettingNames],
    *,
    without_azure: Collection[str] = (),
) -> Iterator[Check]:
    """What is not set that workflows use; `used` is by the files' names.

    A job in an environment finds the names of that environment, too: every environment must have
    what the repository has not. Environments `without_azure` have no clusters that report to it.
    """
    problems = [
        *_missing_everywhere(place, used, of_repository),
        *_missing_in_environments(place, used, of_repository, of_environments, without_azure),
    ]
    wanted = {name for names in used.values() for name in names.elsewhere} | {
        name
        for names in used.values()
        for name in names.in_environment
        if _is_set(name, of_repository)
        or any(_is_asked_for(name, environment, without_azure) for environment in of_environments)
    }
    told = {name.partition(".")[2] for name in wanted} - OPTIONAL
    if told and not problems:
        yield ok(place, f"secrets and variables are set: {', '.join(sorted(told))}")
    yield from problems
    if "NEXT_ENVIRONMENT" in of_repository.variables:
        yield problem(
            place,
            "NEXT_ENVIRONMENT is a variable of the repository: the last environment has a next one",
            "delete it, and set it in the GitHub environments, or annotate the Environment objects",
            VARIABLES,
        )


def _missing_everywhere(
    place: str, used: Mapping[str, UsedNames], of_repository: SettingNames
) -> Iterator[Check]:
    users: dict[str, list[str]] = {}
    for file, names in used.items():
        for name in sorted(names.elsewhere):
            if not _is_set(name, of_repository):
                users.setdefault(name, []).append(file)
    for name, files in users.items():
        yield _missing(place, name, f"for {', '.join(files)}", "for the repository or its owner")


def _missing_in_environments(
    place: str,
    used: Mapping[str, UsedNames],
    of_repository: SettingNames,
    of_environments: Mapping[str, SettingNames],
    without_azure: Collection[str],
) -> Iterator[Check]:
    for environment, own in of_environments.items():
        for file, names in used.items():
            for name in sorted(names.in_environment):
                if not _is_asked_for(name, environment, without_azure):
                    continue
                if _is_set(name, of_repository) or _is_set(name, own):
                    continue
                if name in names.elsewhere:  # told already
                    continue
                where = f"for the repository, or for the GitHub environment {environment}"
                yield _missing(place, name, f"for {environment} in {file}", where)


def _is_asked_for(name: str, environment: str, without_azure: Collection[str]) -> bool:
    """Whether the jobs of an environment need a name."""
    short = name.partition(".")[2]
    return short not in OPTIONAL and not (short in OF_AZURE and environment in without_azure)


def _missing(place: str, name: str, what_for: str, where: str) -> Check:
    kind, _, short = name.partition(".")
    noun = "secret" if kind == "secrets" else "variable"
    text = f"the {noun} {short} is not set ({what_for})"
    known = short.startswith(("KALYPSO_", "AZURE_")) or short.endswith("_TOKEN")
    page = SECRETS if kind == "secrets" else VARIABLES
    return (problem if known else warning)(place, text, f"set it {where}", page)


def _is_set(name: str, names: SettingNames) -> bool:
    kind, _, short = name.partition(".")
    if kind == "secrets":
        return short in names.secrets or short in ALWAYS
    return short in names.variables


def _texts(value: Any) -> Iterator[str]:
    """Every text in a document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
