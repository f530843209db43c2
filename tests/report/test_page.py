"""The page of the report: its parts, its policy, and hostile names."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re

from kalypso_actions.commands.report import page_parts
from kalypso_actions.report.report_document import report_page

PARTS = page_parts()
HOSTILE = "</script><script>alert(1)</script><!--"


def test_a_hostile_name_closes_no_element() -> None:
    page = report_page(HOSTILE, f'{{"title": "{HOSTILE}"}}', PARTS, "")
    assert "alert(1)" not in re.sub(r"&lt;.*?&gt;|alert\(1\)&lt;", "", page)
    assert page.count("<script") == 2
    assert page.count("</script>") == 2


def test_the_data_are_in_the_page() -> None:
    page = report_page("Fleet", '{"a": "ü"}', PARTS, "")
    (data,) = re.findall(r'id="data">([A-Za-z0-9+/=]+)</script>', page)
    assert gzip.decompress(base64.b64decode(data)).decode() == '{"a": "ü"}'
    assert page == report_page("Fleet", '{"a": "ü"}', PARTS, "")


def test_the_policy_allows_the_pages_own_parts_alone() -> None:
    page = report_page("Fleet", "{}", PARTS, "")
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy.startswith("default-src 'none'; ")
    for name, text in (
        ("script", page.rpartition("<script>")[2].partition("</script>")[0]),
        ("style", page.partition("<style>")[2].partition("</style>")[0]),
    ):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert not re.search(r"(src|href)=\"(https?:|//)", page)
