from __future__ import annotations

from collections.abc import Iterator
from string import hexdigits

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.clients.resource_graph.rows import flux_configurations_query, string_literal

LETTERS = {"n": "\n", "r": "\r", "t": "\t", "'": "'", "\\": "\\"}
LINE_ENDS = "\n\r\x85\u2028\u2029"


def texts_of(query: str) -> tuple[list[str], str]:
    """Return the strings of a KQL query, and the query with `?` in their places."""
    texts: list[str] = []
    rest = ""
    characters = iter(query)
    for character in characters:
        if character == "'":
            texts.append(_text(characters))
            rest += "?"
        else:
            rest += character
    return texts, rest


def _text(characters: Iterator[str]) -> str:
    """Read from an opening quote to the closing one."""
    text = ""
    for character in characters:
        if character == "'":
            return text
        assert character not in LINE_ENDS, "a line end inside a string"
        text += _escaped(characters) if character == "\\" else character
    raise AssertionError("a string without an end")


def _escaped(characters: Iterator[str]) -> str:
    letter = next(characters)
    if letter != "u":
        return LETTERS[letter]
    code = "".join(next(characters) for _ in range(4))
    assert set(code) <= set(hexdigits)
    return chr(int(code, 16))


TEXTS = st.text(
    st.one_of(st.characters(), st.sampled_from("'\\\"\n\r\t\0|;)u0041\x7f\x85\u2028\u2029"))
)


@given(TEXTS, TEXTS)
def test_nothing_in_a_name_ends_its_string(repository: str, branch: str) -> None:
    texts, rest = texts_of(flux_configurations_query(repository, branch))
    assert texts == ["microsoft.kubernetesconfiguration/fluxconfigurations", branch, repository]
    assert rest == texts_of(flux_configurations_query("", ""))[1]


@pytest.mark.parametrize(
    ("text", "literal"),
    [
        ("dev", "'dev'"),
        ("it's", r"'it\'s'"),
        ("back\\", r"'back\\'"),
        ("\\' or 1==1 //", r"'\\\' or 1==1 //'"),
        ("a\tb\nc\rd", r"'a\tb\nc\rd'"),
        ("\0\x7f\u2028", r"'\u0000\u007f\u2028'"),
        ("{branch} é 𝄞", "'{branch} é 𝄞'"),
    ],
)
def test_strings_are_written_as_kql_reads_them(text: str, literal: str) -> None:
    assert string_literal(text) == literal


def test_the_query() -> None:
    assert flux_configurations_query("acme/gitops", "dev").splitlines() == [
        "kubernetesconfigurationresources",
        "| where type =~ 'microsoft.kubernetesconfiguration/fluxconfigurations'",
        "| where tostring(properties.gitRepository.repositoryRef.branch) == 'dev'",
        "| where tostring(properties.gitRepository.url) contains 'acme/gitops'",
        "| project id, url = properties.gitRepository.url, "
        "complianceState = properties.complianceState, "
        "provisioningState = properties.provisioningState, suspend = properties.suspend, "
        "errorMessage = properties.errorMessage, "
        "sourceSyncedCommitId = properties.sourceSyncedCommitId, "
        "sourceUpdatedAt = properties.sourceUpdatedAt, "
        "statusUpdatedAt = properties.statusUpdatedAt, "
        "kustomizations = properties.kustomizations, statuses = properties.statuses",
        "| order by id asc",
    ]
