"""Federated credentials of the jobs' identity in Azure, whose number is limited."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kalypso_actions.doctor_rules import pages
from kalypso_actions.doctor_rules.check import Check, ok, problem, warning
from kalypso_actions.doctor_rules.template_options import CONTINUES
from kalypso_actions.model.federated_credentials import MAX_CREDENTIALS


def credential_checks(
    place: str, main: str, environments: Sequence[str], check_promote: str
) -> Iterator[Check]:
    """Check the number of credentials of the repository's identity.

    `environments` sign in with it; those with an AZURE_CLIENT_ID of their own do not.
    `check_promote` is the text of the workflow file. GitHub's two forms of subjects may need two
    credentials each.
    """
    continues = bool(CONTINUES.search(check_promote))
    if continues:
        subject = f"repo:{place}:ref:refs/heads/{main}"
        text = "continued runs of check-promote ask no reviewers, and sign in to Azure without"
        yield ok(place, f"{text} environment: with a credential for {subject}")
    needed = len(environments) + continues
    advice = (
        "create a second identity, and set AZURE_CLIENT_ID as a variable of the GitHub "
        f"environments that use it: {', '.join(environments[MAX_CREDENTIALS // 2 :])}"
    )
    if needed > MAX_CREDENTIALS:
        text = (
            f"{needed} federated credentials are needed, and Azure accepts {MAX_CREDENTIALS} an "
            "identity"
        )
        yield problem(place, text, advice, pages.VARIABLES)
    elif 2 * needed > MAX_CREDENTIALS:
        text = (
            f"{2 * needed} federated credentials are needed for both forms of subjects, and Azure "
            f"accepts {MAX_CREDENTIALS} an identity"
        )
        yield warning(place, text, f"keep one form, or {advice}", pages.VARIABLES)
