"""Acme, whose jobs run this repository's actions as programs, with the real clock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from tests.actions import composite
from tests.commands.chain.founding import Clock, organisation
from tests.commands.chain.organisation import Job, Organisation


class RealClock(Clock):
    """The real clock, as other programs use it."""

    def __call__(self) -> datetime:
        return datetime.now(UTC)


@contextmanager
def acme_of_today(folder: Path) -> Iterator[Organisation]:
    """Yield Acme in a sandbox of its own."""
    with organisation(folder, clock=RealClock()) as acme:
        yield acme


def job_of(acme: Organisation, job: composite.Job, context: Job | None = None) -> composite.Job:
    """Return the job, in acme, with a token that has all permissions."""
    own = ("PATH", "HOME", "RUNNER_TEMP")
    variables = {name: job.variables[name] for name in own}
    job.variables = {
        **acme.job_environment(context or Job()),
        **acme.sandbox.azure.environment(acme.sandbox.url),
        "AZURE_TOKEN_CREDENTIALS": "ManagedIdentityCredential",
        **variables,
    }
    job.token = acme.token
    return job
