"""The words for a change, and untrusted subjects in them."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.model.change_titles import (
    HARMFUL,
    LONGEST,
    ChangeKind,
    ChangeMeaning,
    harmless,
    subject_of,
)
from tests.breaks import breaks, turned

COMMIT = "9c20a84" + "0" * 33


@pytest.mark.parametrize(
    ("kind", "more", "title"),
    [
        (
            "promotion",
            {"subject": "Register hello-world", "more": 22},
            'dev: promote 9c20a84 "Register hello-world" (+22)',
        ),
        ("promotion", {"subject": 'Say "hello"'}, "dev: promote 9c20a84 \"Say 'hello'\""),
        ("promotion", {"more": 1}, "dev: promote 9c20a84 (+1)"),
        ("rollback", {"subject": "x"}, "dev: roll back to 9c20a84"),
        ("continuation", {"next_environments": ("stage",)}, "dev: correct 9c20a84, then stage"),
        (
            "continuation",
            {"next_environments": ("a", "b", "c", "d", "e")},
            "dev: correct 9c20a84, then a, b, c and 2 more",
        ),
        ("continuation", {}, "dev: correct 9c20a84"),
        ("configuration", {"files": 6}, "dev: configuration (6 files)"),
        ("configuration", {}, "dev: configuration"),
        (
            "configuration",
            {"files": 6, "applications": ("web",)},
            "dev: configuration and application web (6 files)",
        ),
        ("application", {"applications": ("web",)}, "dev: application web changed"),
        ("application", {"applications": ("a", "b")}, "dev: applications a and b changed"),
        ("revert", {}, "dev: revert that promotes nothing"),
    ],
)
def test_titles(kind: ChangeKind, more: dict[str, object], title: str) -> None:
    assert ChangeMeaning(kind, "dev", COMMIT, **more).title == title  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "more", "said"),
    [
        (
            "promotion",
            {"clusters": 8, "cluster_types": 2, "next_environments": ("stage",)},
            "8 clusters follow this branch to the new tree; when they comply, then stage",
        ),
        (
            "continuation",
            {"clusters": 1, "cluster_types": 1, "next_environments": ()},
            "1 cluster follows this branch to the new tree; dev is the last environment",
        ),
        (
            "promotion",
            {"cluster_types": 2},
            "the clusters of 2 cluster types follow this branch to the new tree; "
            "then the environment that "
            "NEXT_ENVIRONMENT names, if any",
        ),
        (
            "continuation",
            {
                "cluster_types": 1,
                "next_environments": ("perf", "qa", "stage"),
                "guards": {"stage": "once perf has deployed it"},
            },
            "the clusters of 1 cluster type follow this branch to the new tree; "
            "when they comply, then perf and qa, and stage once perf has deployed it",
        ),
        (
            "promotion",
            {"next_environments": ("stage",), "guards": {"stage": "once its policy lets it in"}},
            "no cluster has anything to run here; then stage once its policy lets it in",
        ),
        (
            "configuration",
            {"next_environments": ("stage",)},
            "no cluster has anything to run here; nothing goes on to another environment",
        ),
    ],
)
def test_what_happens_after_the_merge(kind: ChangeKind, more: dict[str, object], said: str) -> None:
    meaning = ChangeMeaning(kind, "dev", COMMIT, **more)  # type: ignore[arg-type]
    assert meaning.after_merge == f"After the merge, {said}."


@breaks(
    "a subject mentions people and issues",
    turned(harmless, "pattern.sub(replacement, cleaned)", "cleaned"),
    case="people",
)
@breaks(
    "a subject keeps GitHub from starting workflows",
    turned(harmless, "line.translate(BRACKETS)", "line"),
    case="skip",
)
@breaks(
    "a subject has control characters",
    turned(harmless, 'unicodedata.category(character)[0] in "CZ"', "False"),
    case="control",
)
@breaks(
    "what a replacement joins stays harmful",
    turned(harmless, "cleaned == line", "True"),
    case="joined",
)
@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        pytest.param("Fix [skip ci]", "Fix (skip ci)", id="skip ci"),
        pytest.param(
            "[ci skip] [no ci] [SKIP ACTIONS]", "(ci skip) (no ci) (SKIP ACTIONS)", id="skip others"
        ),
        pytest.param("***NO_CI*** x", "NO_CI x", id="skip of Azure"),
        pytest.param("[skip\u200bci]", "(skip ci)", id="skip and a control character"),
        pytest.param("x\n\nskip-checks:true", "x skip-checks true", id="skip trailer"),
        pytest.param("Skip-Checks : true", "Skip-Checks true", id="skip trailer with a space"),
        pytest.param("Fix #12 (#13)", "Fix no. 12 (no. 13)", id="issues"),
        pytest.param("Close GH-12, gh-3", "Close GH 12, gh 3", id="issues of GitHub"),
        pytest.param("See acme/web#12", "See acme/web no. 12", id="issue of another repository"),
        pytest.param(
            "See https://github.com/acme/web/issues/12",
            "See github.com/acme/web/issues/12",
            id="URL",
        ),
        pytest.param("Thank @ada and @acme/ops", "Thank ada and acme/ops", id="people"),
        pytest.param("Mail ada@example.com", "Mail ada at example.com", id="an address"),
        pytest.param("a\x1b[31mb\u202ec\td\x00", "a (31mb c d", id="control characters"),
        pytest.param("#@12 @***ada", "no. 12 ada", id="joined"),
        pytest.param("Plain: 100% & <b>", "Plain: 100% & <b>", id="plain"),
    ],
)
def test_subjects_are_harmless(subject: str, expected: str) -> None:
    assert harmless(subject) == expected
    assert expected.replace('"', "'") in ChangeMeaning("promotion", "dev", COMMIT, subject).title


@pytest.mark.parametrize(
    ("message", "subject"),
    [
        ("Register web\n\nMore.", "Register web"),
        ("Merge pull request #7 from acme/web\n\nRegister web\n\nMore.", "Register web"),
        ("Merge pull request #7 from acme/web", "Merge pull request #7 from acme/web"),
        ("", ""),
    ],
)
def test_the_subject_of_a_merge_is_that_of_its_pull_request(message: str, subject: str) -> None:
    assert subject_of(message) == subject


PIECES = st.sampled_from(
    [*'[]# :1@a/*.-\n\u200b\u202e"é', "skip", "ci", "checks", "GH", "gh", "www", "http"]
)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_no_subject_does_harm(subject: str) -> None:
    title = ChangeMeaning("promotion", "dev", COMMIT, subject, more=3).title
    words = title.removeprefix("dev: ")
    assert not any(pattern.search(words) for pattern, _ in HARMFUL)
    assert not re.search(r"[\[\]]|skip-checks\s*:", words)
    assert not [each for each in words if unicodedata.category(each)[0] == "C"]
    assert words.count('"') in {0, 2}


@breaks(
    "a long subject hides the number of commits",
    turned(ChangeMeaning.title, "LONGEST - len(self.environment) - 2", "9999"),
)
@pytest.mark.parametrize("environment", ["dev", "e" * 63])
def test_a_title_is_short(environment: str) -> None:
    title = ChangeMeaning("promotion", environment, COMMIT, "word " * 100, more=1234).title
    assert len(title) <= LONGEST
    assert title.endswith('…" (+1234)')
