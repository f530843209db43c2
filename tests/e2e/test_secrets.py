"""The parts of a job that readers of the repository can see contain no secret."""

from __future__ import annotations

import pytest

from tests.e2e.chain import Chain
from tests.e2e.conftest import Played

pytestmark = pytest.mark.e2e


def test_no_log_holds_a_token(chain: Chain, played: Played) -> None:
    key = chain.secrets["KALYPSO_APP_PRIVATE_KEY"].splitlines()[1:-1]
    secrets = {*chain.sandbox.store.tokens, *chain.jobs.tokens, *key}
    assert len(secrets) > len(played.finished)
    for job in chain.jobs.finished:
        shown = [path for path in job.folder.iterdir() if path.is_file()]
        text = "".join(path.read_text(encoding="utf-8") for path in shown)
        text += repr(job.outcome)
        assert [secret for secret in secrets if secret in text] == [], job.folder
