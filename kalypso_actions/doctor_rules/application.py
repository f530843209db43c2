"""The set-up of an application: its source, its configs and its GitOps repository."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from kalypso_actions.doctor_rules.check import (
    ENVIRONMENTS_PAGE,
    NEW_ENVIRONMENT_PAGE,
    SECRETS_PAGE,
    VARIABLES_PAGE,
    Check,
    file_page,
    ok,
    problem,
    warning,
)
from kalypso_actions.doctor_rules.repositories import APP_KEY
from kalypso_actions.model.application import ORDER_FILE
from kalypso_actions.model.github import EnvironmentRules, SettingNames

APP_ID: Final = "KALYPSO_APP_ID"
OF_CHAIN: Final = "kalypso"
"""The GitHub environment of the jobs that use the App's key and belong to no environment."""
NOTIFIER: Final = ("KALYPSO_NOTIFIER_APP_ID", "KALYPSO_NOTIFIER_PRIVATE_KEY")
UPSTREAMS_TOKEN: Final = "CD_BOOTSTRAP_TOKEN"  # noqa: S105 - the name of a secret


def variable_checks(
    place: str, names: SettingNames, expected: Mapping[str, str | None]
) -> Iterator[Check]:
    """Check that a repository's variables are set; to a known value, None: to any.

    The value of a variable names a repository, whose case GitHub ignores.
    """
    wrong = False
    for name, wanted in expected.items():
        value = names.values.get(name)
        if value and (wanted is None or value.lower() == wanted.lower()):
            continue
        wrong = True
        text = f"the variable {name} is {value!r}" if value else f"the variable {name} is not set"
        body = wanted or "<value>"
        repair = f"gh variable set {name} --repo {place} --body {body}"
        yield problem(place, text, repair, VARIABLES_PAGE)
    if not wrong:
        yield ok(place, f"the variables {', '.join(expected)} are set")


def key_checks(
    source: str, main: str, names: SettingNames, of_environments: Mapping[str, SettingNames | None]
) -> Iterator[Check]:
    """Check that the App's key is in the GitHub environments of the source, and there alone.

    `of_environments` has None for an environment that does not exist.
    """
    if APP_KEY in names.secrets:
        yield warning(
            source,
            f"the secret {APP_KEY} is that of the repository: a workflow of every branch can use "
            "the App",
            f"set it in the environments, then gh secret delete {APP_KEY} --repo {source}",
            SECRETS_PAGE,
        )
    for environment, known in of_environments.items():
        if known is None:
            use = (
                "without reviewers"
                if environment == OF_CHAIN
                else "with the people who approve that a commit goes on"
            )
            yield problem(
                source,
                f"there is no GitHub environment {environment}: its first job creates it, "
                "unprotected and without the App's key",
                f"create it, with {main} as its only deployment branch, {use}",
                NEW_ENVIRONMENT_PAGE,
            )
        elif APP_KEY in known.secrets | names.secrets:
            yield ok(source, f"the jobs in the environment {environment} have the App's key")
        else:
            yield problem(
                source,
                f"the environment {environment} has no secret {APP_KEY}",
                f"gh secret set {APP_KEY} --repo {source} --env {environment} < <the key file>",
                ENVIRONMENTS_PAGE,
            )


def protection_checks(
    source: str, main: str, environments: Mapping[str, EnvironmentRules]
) -> Iterator[Check]:
    """Check who can use the App's key in the GitHub environments, and that no run waits there.

    People approve a pull request, and in an environment of the application that a commit goes on.
    """
    for environment, rules in environments.items():
        if rules.any_branch:
            yield warning(
                source,
                f"a workflow of every branch can use the App in the environment {environment}",
                f"make {main} its only deployment branch",
                ENVIRONMENTS_PAGE,
            )
        else:
            yield ok(source, f"the environment {environment} is closed to other branches")
        if environment == OF_CHAIN and rules.needs_approval:
            yield warning(
                source,
                f"every run in the environment {environment} waits until a reviewer approves it",
                "remove its required reviewers",
                ENVIRONMENTS_PAGE,
            )


def notifier_checks(place: str, names: SettingNames) -> Iterator[Check]:
    """Check that a repository has a notifier, and no other key, which its writers could use."""
    number, key = NOTIFIER
    if key in names.secrets and number in names.variables:
        yield ok(place, "a notifier tells the source of pushes")
    else:
        yield warning(
            place,
            f"the variable {number} or the secret {key} is missing: no push is told, and poll.yml "
            "finds it later",
            "create a notifier, an App with actions: write on the source alone",
            SECRETS_PAGE,
        )
    for foreign in sorted({APP_KEY, UPSTREAMS_TOKEN} & names.secrets):
        yield warning(
            place,
            f"the secret {foreign} is here: everybody who may push a branch can write with it",
            f"gh secret delete {foreign} --repo {place}, or keep the organization's from it",
            SECRETS_PAGE,
        )


def release_check(source: str, main: str, path: str, *, releases: bool) -> Check:
    """Check that the build of the source releases its commits."""
    if releases:
        return ok(source, f"{path} releases the commits of {main}")
    return problem(
        source,
        f"no job of {path} on {main} uses app-ci: no commit is released",
        "kalypso app init prints the job to add",
        file_page(main, path),
    )


def branch_check(place: str, branch: str, *, exists: bool) -> Check:
    """Check that the branch of an environment exists."""
    if exists:
        return ok(place, f"the branch {branch} exists")
    advice = f"kalypso app init creates it, or take {branch} out of {ORDER_FILE}"
    return problem(place, f"there is no branch {branch}", advice)


def order_check(source: str, main: str, names: Collection[str]) -> Check:
    """Report the environments that are checked, or a source that does not name them."""
    if names:
        return ok(source, f"{ORDER_FILE} names {', '.join(names)}")
    text = f"{main} has no {ORDER_FILE}: the environments are not checked"
    return warning(source, text, "kalypso app init writes it")


def no_probe(source: str) -> Check:
    """Report that `--probe` has tried nothing."""
    text = "--probe tries nothing: it knows the branches of a control plane alone"
    return warning(source, text, "leave out --probe")
