"""Values that are too large, or that may surprise their authors."""

from __future__ import annotations

import pytest

from kalypso_actions.comparison.masked_keys import KeyNames
from kalypso_actions.comparison.text_masking import mask_line
from kalypso_actions.platform_config.lint import (
    config_map_notes,
    config_map_problems,
    config_map_warnings,
)
from tests.builders import config_map


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Endpoint: x", "K looks like a text, but it is read as a mapping"),
        ("- x", "K looks like a text, but it is read as a list"),
        ("a:\n  y: 1\n", "K has the key true, a boolean in YAML 1.1"),
        ("- {a: 1}\n- {b: 1}\n", "K is a list of mappings without a name"),
    ],
)
def test_warnings(text: str, message: str) -> None:
    (warning,) = config_map_warnings(config_map("c", {"J": "x", "K": text}))
    assert message in warning.message
    assert warning.where
    assert warning.where.line == 3


@pytest.mark.parametrize(
    "text", ["x", "http://h:1/p", "[a, b]", "{a: 1}", "'a: b'", "a:\n  b: 1\n"]
)
def test_no_warnings(text: str) -> None:
    assert not list(config_map_warnings(config_map("c", {"K": text})))


def test_other_config_maps_are_ignored() -> None:
    other = config_map("c", {"K": "Endpoint: x"}, platform_config="false")
    assert not list(config_map_warnings(other))


def test_a_value_that_is_too_deep() -> None:
    (problem,) = config_map_problems(config_map("c", {"K": "[" * 200 + "]" * 200}))
    assert problem.message.startswith("ConfigMap 'c': K: ")
    assert not list(config_map_problems(config_map("c", {"K": "["})))


@pytest.mark.parametrize(
    ("key", "codes"),
    [
        ("MY KEY", ["config-key-invalid"]),
        ("a/b", ["config-key-invalid"]),
        ("..a", ["config-key-invalid"]),
        ("A" * 254, ["config-key-invalid"]),
        ("-a._B9", []),
        (".a", []),
    ],
)
def test_a_key_that_kubernetes_refuses_is_a_warning(key: str, codes: list[str]) -> None:
    assert [item.code for item in config_map_warnings(config_map("c", {key: "x"}))] == codes


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("DATABASE_PASSWORD", "hunter2-9fJ2kq"),
        ("DB_PASSWORD", "hunter2"),
        ("west.apiKey", "AKIA12345678"),
        ("cert", "-----BEGIN RSA PRIVATE KEY-----\nabc\n"),
        ("DATABASE_URL", "postgres://app:hunter2@db.internal:5432/shop"),
        ("BROKER", "amqps://:p%40ss@mq/vhost"),
        ("SERVERS", "[redis://r:one@a, redis://r:two@b]"),
        ("GIT", "https://ghp_abcdefghij0123456789@github.com/acme/app"),
        ("DB", "Server=db;User Id=app;Password=hunter2;Encrypt=true"),
        ("STORE", "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=abc+/123=="),
        ("LOGIN", "user: app\npassword: hunter2-9fJ2kq\n"),
        ("LOGINS", "- {name: a}\n- {name: b, apiKey: AKIA12345678}\n"),
    ],
)
def test_a_secret_is_a_warning_without_the_secret(key: str, text: str) -> None:
    (warning,) = config_map_warnings(config_map("c", {key: text}))
    assert warning.code == "config-secret"
    assert mask_line(warning.message, KeyNames()) == warning.message  # preview masks it
    assert text.strip() not in f"{warning.message} {warning.advice}"
    assert warning.where
    assert warning.where.line == 2


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("DATABASE_PASSWORD", "${DATABASE_PASSWORD_1}"),
        ("DATABASE_PASSWORD", "/var/run/secrets/db1"),
        ("TOKEN", "https://vault.test/v1/token"),
        ("PASSWORD_MIN_LENGTH", "12345678a"),
        ("PARTITION_KEY", "tenant1234"),
        ("TOKEN", "3600s"),
        ("SECRET", "db-credentials"),
        ("DATABASE_URL", "postgres://app@db.internal:5432/shop"),
        ("DATABASE_URL", "postgres://app:${DB_PASSWORD}@db"),
        ("DATABASE_URL", "postgres://app:$(DB_PASSWORD)@db"),
        ("DATABASE_URL", "postgres://app:<password>@db"),
        ("DATABASE_URL", "postgres://app:***@db"),
        ("GIT", "ssh://git@github.com:22/acme/app.git"),
        ("GIT", "git@github.com:acme/app.git"),
        ("TIMES", "https://calendar.test/10:30@room"),
        ("DB", "Server=db;User Id=app;Password=${PASSWORD};Encrypt=true"),
        ("RULES", "password=min12"),
        ("LOGIN", "user: app\npasswordSecretName: db\n"),
    ],
)
def test_the_place_of_a_secret_is_no_warning(key: str, text: str) -> None:
    assert not list(config_map_warnings(config_map("c", {key: text})))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("“debug”", "begins and ends with “ and ”"),
        (" „debug“ ", "begins and ends with „ and “"),
        ("{level: ‘debug’}", "begins and ends with ‘ and ’"),
        ("–verbose", "begins with the dash –"),
        ("debug\u00a0", "the invisible character U+00A0 (no-break space)"),
        ("\ufeffdebug", "the invisible character U+FEFF"),
        ("de\u200bbug", "the invisible character U+200B (zero width space)"),
        ("[a, 'b\u00a0']", "the invisible character U+00A0"),
    ],
)
def test_characters_of_word_processors(text: str, message: str) -> None:
    (warning,) = config_map_warnings(config_map("c", {"K": text}))
    assert warning.code == "config-value-characters"
    assert message in warning.message


@pytest.mark.parametrize(
    "text", ["“Ahoi”, said the mate", "10\u00a0000 Franken im Jahr", "a – b", "—", "München", "-v"]
)
def test_characters_of_texts_for_people(text: str) -> None:
    assert not list(config_map_warnings(config_map("c", {"K": text})))


@pytest.mark.parametrize(
    ("text", "is_noted"),
    [
        ("dev\n", True),
        ("a\nb\n", False),
        ("dev", False),
        ("dev ", True),
        ("\tdev", True),
        (" a\n b\n", False),
        ("\n", False),
        ("a: b\n", False),
        ("level: info format: json\n", False),
    ],
)
def test_one_line_that_ends_with_a_line_break(text: str, is_noted: bool) -> None:
    notes = [item.code for item in config_map_notes(config_map("c", {"K": text}))]
    assert notes == ["config-value-line-break"] * is_noted
