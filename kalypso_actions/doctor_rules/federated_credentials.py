"""Federated credentials of the jobs' identity in Azure, whose number is limited."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kalypso_actions.doctor_rules import pages
from kalypso_actions.doctor_rules.check import Check, ok, problem, warning
from kalypso_actions.doctor_rules.template_options import CONTINUES
from kalypso_actions.model.federated_credentials import MAX_CREDENTIALS


def credential_checks(
    place: str,
    main: str,
    environments: Sequence[str],
    check_promote: str,
    prefixes: Sequence[str],
) -> Iterator[Check]:
    """Check the number of credentials of the repository's identity.

    `environments` are those that sign in with it, without an AZURE_CLIENT_ID of their own.
    `check_promote` is the text of the workflow file. `prefixes` are the possible prefixes of the
    subjects. There are two if GitHub may use either form, and each may need a credential.
    """
    continues = bool(CONTINUES.search(check_promote))
    if continues:
        subjects = " or ".join(f"{prefix}:ref:refs/heads/{main}" for prefix in prefixes)
        text = "continued runs of check-promote ask no reviewers, and have no GitHub environment"
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
        yield problem(place, text, advice, pages.VARIABLES)
    elif of_all_forms > MAX_CREDENTIALS:
        text = (
            f"{of_all_forms} federated credentials are needed for both forms of subjects, but "
            f"Azure accepts {MAX_CREDENTIALS} for each identity"
        )
        yield warning(place, text, f"keep one form, or {advice}", pages.VARIABLES)
