"""Formats; the oracle's cases hold which texts each accepts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.config_schemas import validate
from kalypso_actions.config_schemas.formats import CHECKS


@pytest.mark.parametrize("name", ["", "duration", "int32", "Date"])
def test_other_formats_accept_every_text(name: str) -> None:
    assert (
        validate({"A": "anything"}, [f'{{"additionalProperties": {{"format": "{name}"}}}}']) == ""
    )


@given(
    st.sampled_from(sorted(CHECKS)),
    st.text() | st.text(alphabet='aZ0129-:.+T@<>()"\\[]{}/#?%=~,; \t'),
)
def test_no_text_raises(name: str, text: str) -> None:
    assert CHECKS[name](text) in {True, False}


@given(st.datetimes())
def test_moments_are_date_times(moment: object) -> None:
    text = str(moment).replace(" ", "T")

    assert CHECKS["date-time"](text + "Z")
    assert CHECKS["date"](text[:10])
    assert CHECKS["time"](text[11:])
    assert not CHECKS["date-time"](text)


@given(st.emails())
def test_mail_addresses_are_emails(address: str) -> None:
    assert CHECKS["email"](address)


@given(st.ip_addresses())
def test_addresses_are_of_their_version(address: object) -> None:
    text = str(address)

    assert CHECKS["ipv6"](text) == (":" in text)
    assert CHECKS["ipv4"](text) == ("." in text)
