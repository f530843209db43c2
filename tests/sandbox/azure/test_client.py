"""Azure's own client for Resource Graph understands every answer, over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from azure.core.exceptions import ClientAuthenticationError, HttpResponseError

from kalypso_sandbox.azure import Azure, QueryFault
from tests.sandbox.azure.azure_server import Given, query, sdk, serving
from tests.sandbox.azure.builders import Clock, azure, cluster, push


@pytest.fixture
def made(tmp_path: Path) -> Azure:
    simulated = azure(tmp_path, Clock(), *(cluster(f"drone-{number}") for number in range(5)))
    push(simulated.store, {"drone/a": "1"})
    return simulated


def test_one_page(made: Azure) -> None:
    with serving(made) as url, sdk(url, Given(made.issue_token())) as asked:
        content, headers = query(asked)
    assert (content.total_records, content.count, content.result_truncated) == (5, 5, "false")
    assert content.skip_token is None
    assert [row["properties"]["complianceState"] for row in content.data] == ["Compliant"] * 5
    assert headers["x-ms-user-quota-remaining"] == "14"
    assert headers["x-ms-user-quota-resets-after"] == "00:00:05"


def test_all_pages_hold_every_row_once(made: Azure) -> None:
    rows = []
    with serving(made) as url, sdk(url, Given(made.issue_token())) as asked:
        options = {"top": 2}
        while True:
            content, _ = query(asked, **options)
            assert content.total_records == 5
            rows += [row["id"] for row in content.data]
            if not content.skip_token:
                break
            options = {"skip_token": content.skip_token}
    assert rows == sorted(rows)
    assert len(set(rows)) == 5


def test_a_truncated_answer_has_no_token(made: Azure) -> None:
    made.settings.faults.append(QueryFault(kind="truncated"))
    with serving(made) as url, sdk(url, Given(made.issue_token())) as asked:
        content, _ = query(asked)
        assert (content.count, content.total_records) == (2, 5)
        assert (content.result_truncated, content.skip_token) == ("true", None)
        assert query(asked)[0].count == 5


def test_throttling_is_an_error_with_headers(made: Azure) -> None:
    made.settings.faults.append(QueryFault(kind="throttled"))
    with (
        serving(made) as url,
        sdk(url, Given(made.issue_token())) as asked,
        pytest.raises(HttpResponseError) as caught,
    ):
        query(asked)
    refused: Any = caught.value
    assert (refused.status_code, refused.error.code) == (429, "RateLimiting")
    assert refused.response.headers["x-ms-user-quota-resets-after"] == "00:00:05"
    assert "Retry-After" not in refused.response.headers


@pytest.mark.parametrize("token", ["", "not.a.token", "é"])
def test_an_invalid_token_is_no_success(made: Azure, token: str) -> None:
    with (
        serving(made) as url,
        sdk(url, Given(token.encode().decode("latin-1"))) as asked,
        pytest.raises(ClientAuthenticationError) as caught,
    ):
        query(asked)
    assert caught.value.status_code == 401


def test_lost_permission_is_an_error_or_no_rows(made: Azure) -> None:
    made.settings.faults += [QueryFault(kind="denied"), QueryFault(kind="unseen")]
    with serving(made) as url, sdk(url, Given(made.issue_token())) as asked:
        with pytest.raises(HttpResponseError) as caught:
            query(asked)
        refused: Any = caught.value
        assert (refused.status_code, refused.error.code) == (403, "AccessDenied")
        content, _ = query(asked)
        assert (content.count, content.total_records, content.data) == (0, 0, [])
