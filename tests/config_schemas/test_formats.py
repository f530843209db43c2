"""Formats; what each holds for is proven by the recorded cases."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.config_schemas import formats

NAMES = [
    "date", "time", "date-time", "hostname", "email", "idn-email", "ipv4", "ipv6", "uri",
    "uri-reference", "iri", "iri-reference", "uri-template", "uuid", "regex", "json-pointer",
    "relative-json-pointer",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_upstreams_formats_are_known(name: str) -> None:
    assert formats.is_known(name)


@pytest.mark.parametrize("name", ["", "duration", "int32", "Date"])
def test_other_formats_always_hold(name: str) -> None:
    assert not formats.is_known(name)
    assert formats.holds(name, "anything")


@given(st.sampled_from(NAMES), st.text() | st.text(alphabet='aZ0129-:.+T@<>()"\\[]{}/#?%=~,; \t'))
def test_every_text_is_answered(name: str, text: str) -> None:
    assert formats.holds(name, text) in {True, False}


@given(st.datetimes())
def test_moments_are_date_times(moment: object) -> None:
    text = str(moment).replace(" ", "T")

    assert formats.holds("date-time", text + "Z")
    assert formats.holds("date", text[:10])
    assert formats.holds("time", text[11:])
    assert not formats.holds("date-time", text)


@given(st.emails())
def test_mail_addresses_are_emails(address: str) -> None:
    assert formats.holds("email", address)


@given(st.ip_addresses())
def test_addresses_are_of_their_version(address: object) -> None:
    text = str(address)

    assert formats.holds("ipv6", text) == (":" in text)
    assert formats.holds("ipv4", text) == ("." in text)
