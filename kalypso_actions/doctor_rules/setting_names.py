"""Secrets and variables that workflows use, and whether they are set."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import yaml

from kalypso_actions.doctor_rules.check import Check, ok, problem, warning
from kalypso_actions.doctor_rules.environments import NEXT_ENVIRONMENT
from kalypso_actions.doctor_rules.pages import SECRETS, VARIABLES
from kalypso_actions.model.github import SettingNames

EXPRESSION: Final = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
NAME: Final = re.compile(r"\b(secrets|vars)(?:\.|\[\s*')([A-Za-z_][A-Za-z0-9_]*)", re.IGNORECASE)
"""`secrets.KEY` or `secrets['KEY']`; GitHub ignores case."""

ALWAYS_SET: Final = frozenset({"GITHUB_TOKEN"})
"""Secrets that GitHub sets itself."""

OPTIONAL: Final = frozenset({NEXT_ENVIRONMENT})
"""Annotations can replace this name; `environments.promotion_check` reports the result."""

AZURE_VARIABLES: Final = frozenset({"AZURE_CLIENT_ID", "AZURE_TENANT_ID", "AZURE_SCOPES"})


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
            for expression in EXPRESSION.findall(value):
                if "||" not in expression:
                    names |= {
                        f"{kind.lower()}.{name.upper()}" for kind, name in NAME.findall(expression)
                    }
    return UsedNames(frozenset(in_environment), frozenset(elsewhere))


def name_checks(
    place: str,
    used: Mapping[str, UsedNames],
    of_repository: SettingNames,
    of_environments: Mapping[str, SettingNames],
    *,
    not_reporting: Collection[str] = (),
) -> Iterator[Check]:
    """Check that the secrets and variables of the workflow files `used` are set.

    A job in an environment also sees the names of that environment, so each environment must set
    the names that the repository lacks. The environments `not_reporting` need no Azure variables.
    """
    problems = [
        *_missing_everywhere(place, used, of_repository),
        *_missing_in_environments(place, used, of_repository, of_environments, not_reporting),
    ]
    wanted = {name for names in used.values() for name in names.elsewhere} | {
        name
        for names in used.values()
        for name in names.in_environment
        if _is_set(name, of_repository)
        or any(_is_required(name, environment, not_reporting) for environment in of_environments)
    }
    short_names = {name.partition(".")[2] for name in wanted} - OPTIONAL
    if short_names and not problems:
        yield ok(place, f"secrets and variables are set: {', '.join(sorted(short_names))}")
    yield from problems
    if NEXT_ENVIRONMENT in of_repository.variables:
        yield problem(
            place,
            f"{NEXT_ENVIRONMENT} is a variable of the repository: every environment, even the "
            "last, has a next one",
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
    not_reporting: Collection[str],
) -> Iterator[Check]:
    for environment, of_environment in of_environments.items():
        for file, names in used.items():
            for name in sorted(names.in_environment - names.elsewhere):
                if not _is_required(name, environment, not_reporting):
                    continue
                if _is_set(name, of_repository) or _is_set(name, of_environment):
                    continue
                where = f"for the repository, or for the GitHub environment {environment}"
                yield _missing(place, name, f"for {environment} in {file}", where)


def _is_required(name: str, environment: str, not_reporting: Collection[str]) -> bool:
    """Whether the jobs of an environment need a name."""
    short = name.partition(".")[2]
    return short not in OPTIONAL and not (short in AZURE_VARIABLES and environment in not_reporting)


def _missing(place: str, name: str, users: str, where: str) -> Check:
    """Report a missing name; only warn of names that are not ours, as the job may not need them."""
    kind, _, short = name.partition(".")
    noun = "secret" if kind == "secrets" else "variable"
    text = f"the {noun} {short} is not set ({users})"
    known = short.startswith(("KALYPSO_", "AZURE_")) or short.endswith("_TOKEN")
    page = SECRETS if kind == "secrets" else VARIABLES
    return (problem if known else warning)(place, text, f"set it {where}", page)


def _is_set(name: str, names: SettingNames) -> bool:
    kind, _, short = name.partition(".")
    if kind == "secrets":
        return short in names.secrets or short in ALWAYS_SET
    return short in names.variables


def _strings(value: Any) -> Iterator[str]:
    """Yield every string in a document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)
