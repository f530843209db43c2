"""One check: a subject, its state, and advice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import quote

from kalypso_actions.errors import Location, Problem

State = Literal["ok", "warning", "problem"]
"""`problem`: the chain fails. `warning`: it may fail, or the check was not possible."""


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the report.

    `place` is the repository or account that the check concerns. `page` is the page where people
    act on the advice: a whole URL, or a path below the repository's URL (see `pages`).
    """

    place: str
    state: State
    text: str
    advice: str = ""
    page: str = ""

    @classmethod
    def of_problem(cls, state: State, problem: Problem, place: str) -> Check:
        """Report a problem; the text names its location as far as `place` does not."""
        text = f"{_location_prefix(problem.where, place)}{problem.message}"
        return cls(place, state, text, problem.advice)


def ok(place: str, text: str) -> Check:
    """Report that everything is in order."""
    return Check(place, "ok", text)


def warning(place: str, text: str, advice: str, page: str = "") -> Check:
    """Report that the chain may fail, or that the check was not possible."""
    return Check(place, "warning", text, advice, page)


def problem(place: str, text: str, advice: str, page: str = "") -> Check:
    """Report that the chain fails."""
    return Check(place, "problem", text, advice, page)


def _location_prefix(where: Location | None, place: str) -> str:
    if where is None:
        return ""
    repository = where.repository
    if repository == place or repository.endswith(f"/{place}"):  # by name or by URL
        repository = ""
    if where.path:
        line = f":{where.line}" if where.line else ""
        return f"{where.path}{line}{f' ({repository})' if repository else ''}: "
    return f"{repository}: " if repository else ""


SECRETS_PAGE: Final = "settings/secrets/actions"
VARIABLES_PAGE: Final = "settings/variables/actions"
ENVIRONMENTS_PAGE: Final = "settings/environments"
NEW_ENVIRONMENT_PAGE: Final = "settings/environments/new"
ACTIONS_PAGE: Final = "settings/actions"
RULES_PAGE: Final = "settings/rules"
CLASSIC_RULES_PAGE: Final = "settings/branches"
BRANCHES_PAGE: Final = "branches"
GENERAL_PAGE: Final = "settings"


def file_page(branch: str, path: str) -> str:
    """Return the page of a file."""
    return f"blob/{quote(branch)}/{quote(path)}"


def workflow_page(path: str) -> str:
    """Return the page where people enable the workflow of a file."""
    return f"actions/workflows/{quote(path.rpartition('/')[2])}"
